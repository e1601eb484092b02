#!/bin/sh
# Places a call with curl: sh call.sh +12025550100 (see README.md).
set -eu

wrong() {
  echo "$1" >&2
  exit 2
}

case ${1-} in
  *[!+0-9]* | "") wrong "usage: sh call.sh <number in E.164, such as +12025550100>" ;;
esac
# Text before "@" is not the host: http://127.0.0.1:4010@evil.example is another server. A proxy could read
# a plain http request, so these bypass it.
proxies=
case $OUTDIAL_BASE_URL in
  *@*) wrong "OUTDIAL_BASE_URL must be without user and password" ;;
  https://*) ;;
  http://127.0.0.1:* | http://localhost:*) proxies='*' ;;
  *) wrong "OUTDIAL_BASE_URL must be https" ;;
esac
case $OUTDIAL_API_KEY in
  *[![:graph:]]* | "") wrong "OUTDIAL_API_KEY must be one word" ;;
esac

body=$(printf '{"from_number":"%s","to_number":"%s","flow_url":"%s","status_callback_url":"%s"}' \
  "$FROM_NUMBER" "$1" "$APP_URL/flow" "$APP_URL/status")

# printf is part of the shell, so the key is no argument of a process. -q must come first: it skips a
# .curlrc, which could follow redirects.
failure=0
answer=$(printf 'X-API-Key: %s\n' "$OUTDIAL_API_KEY" |
  curl -q --silent --show-error --max-time 10 --write-out '\n%{http_code}' \
    ${proxies:+--noproxy "$proxies"} --header @- --header 'Content-Type: application/json' --data "$body" \
    "${OUTDIAL_BASE_URL%/}/api/v1/calls/initiate") || failure=$?
status=${answer##*[!0-9]}

case $failure:$status in
  0:2??) printf '%s\n' "${answer%???}" ;;
  # After these statuses the call may have been placed.
  0:408 | 0:409 | 0:425 | 0:499)
    echo "The call may have been placed (HTTP $status)" >&2
    exit 3
    ;;
  0:4?? | 0:307 | 0:308)
    printf 'Refused with %s: %s\n' "$status" "${answer%???}" >&2
    exit 1
    ;;
  [567]:* | 35:* | 60:*) # No address, no connection or no TLS: the request was not sent.
    echo "Not placed: no connection" >&2
    exit 1
    ;;
  *)
    echo "The call may have been placed (HTTP $status)" >&2
    exit 3
    ;;
esac
