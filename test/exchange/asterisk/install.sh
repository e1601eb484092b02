#!/bin/bash
# Installs Asterisk 22 of Debian sid in a folder of its own: nothing else of this machine changes. It needs root and
# Debian's packages.
#   install.sh FOLDER
set -euo pipefail
ROOT=$1
MIRROR=${MIRROR:-http://deb.debian.org/debian}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
run() { "$@" >"$WORK/log" 2>&1 || { tail -n 20 "$WORK/log" >&2; exit 1; }; }
if command -v debootstrap >/dev/null; then
  DEBOOTSTRAP=debootstrap
else
  # `apt-get download` drops its privileges, and writes here.
  chmod 777 "$WORK"
  cd "$WORK"
  # A host that isn't reached is given up within two minutes.
  run apt-get -o Acquire::Retries=1 -o Acquire::http::Timeout=20 download -q debootstrap
  run dpkg -x debootstrap_*.deb db
  cd - >/dev/null
  DEBOOTSTRAP=$WORK/db/usr/sbin/debootstrap
  export DEBOOTSTRAP_DIR=$WORK/db/usr/share/debootstrap
fi
# A run that was ended may have left file systems in it.
{ grep -o " $ROOT.part/[^ ]*" /proc/mounts || true; } | sort -r | xargs -r umount
rm -rf "$ROOT.part"
run "$DEBOOTSTRAP" --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg sid "$ROOT.part" "$MIRROR"
# No daemon starts by itself.
printf '#!/bin/sh\nexit 101\n' >"$ROOT.part/usr/sbin/policy-rc.d"
chmod +x "$ROOT.part/usr/sbin/policy-rc.d"
run chroot "$ROOT.part" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install -y -q --no-install-recommends \
  asterisk asterisk-modules asterisk-config espeak-ng
run chroot "$ROOT.part" apt-get clean
rm -rf "$ROOT.part"/var/lib/apt/lists/*
# Whole, or not there.
rm -rf "$ROOT"
mv "$ROOT.part" "$ROOT"
