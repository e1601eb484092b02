# Stands in for `work/calls.ts`: prints the figures that it is given, one line of them a round and the last one again, and
# fails where there is none; as a heap, it prints what it is given, and as a process's memory 0.
if [ "$1" != rounds ]; then
  echo "${2:-0}"
  exit
fi

left=$2
echo ready
while read -r _; do
  figure=${left%%
*}
  left=${left#*
}
  case $figure in
  '' | null)
    echo "Error: It broke" >&2
    exit 1
    ;;
  esac
  echo "$figure"
done
