"""Places a call with Python's standard library: python3 call.py +12025550100 (see README.md)."""

import http.client
import json
import os
import sys
from urllib.parse import urlsplit

PLACED, REFUSED, USAGE, MAYBE = 0, 1, 2, 3

# After these statuses the call may have been placed.
OPEN = {408, 409, 425, 499}


def fail(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code


def place(to_number: str) -> int:
    key = os.environ.get("OUTDIAL_API_KEY", "")
    app = os.environ.get("APP_URL", "")
    base = urlsplit(os.environ.get("OUTDIAL_BASE_URL", ""))
    if base.username is not None:
        return fail("OUTDIAL_BASE_URL must be without user and password", USAGE)
    if base.scheme != "https" and base.hostname not in ("127.0.0.1", "localhost"):
        return fail("OUTDIAL_BASE_URL must be https", USAGE)
    if not (key and key.isascii() and key.isprintable()):
        # The error of http.client would contain the key.
        return fail("OUTDIAL_API_KEY is not a legal header value", USAGE)

    # Not urllib.request, which follows redirects and sends the key along.
    secure = base.scheme == "https"
    connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = connect(base.netloc, timeout=10)
    try:
        connection.connect()
    except OSError as error:
        return fail(f"Not placed: {error}", REFUSED)
    try:
        connection.request(
            "POST",
            f"{base.path.rstrip('/')}/api/v1/calls/initiate",
            json.dumps(
                {
                    "from_number": os.environ.get("FROM_NUMBER", ""),
                    "to_number": to_number,
                    "flow_url": f"{app}/flow",
                    "status_callback_url": f"{app}/status",
                }
            ),
            {"X-API-Key": key, "Content-Type": "application/json"},
        )
        response = connection.getresponse()
        answer = response.read(2**20).decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return fail(f"The call may have been placed: {type(error).__name__}", MAYBE)
    finally:
        connection.close()

    if 200 <= response.status < 300:
        print(answer)
        return PLACED
    if response.status in (307, 308) or (400 <= response.status < 500 and response.status not in OPEN):
        return fail(f"Refused with {response.status}: {answer}", REFUSED)
    return fail(f"The call may have been placed: HTTP {response.status}", MAYBE)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(fail("usage: python3 call.py <number in E.164, such as +12025550100>", USAGE))
    sys.exit(place(sys.argv[1]))
