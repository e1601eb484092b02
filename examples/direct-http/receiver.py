"""Receives notifications and decides flows, in Python's standard library: python3 receiver.py (see README.md).

Prints each notification once, as a line of JSON.
"""

import hmac
import json
import os
import time
from base64 import b64decode, b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

SECRET = b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
# What every call does: an action of docs/service.md. A service that does not have it gets a hangup.
ACTION = os.environ.get("ACTION", '{"action":"hangup"}').encode()
HANGUP = b'{"action":"hangup"}'
BASIC = ["play", "stream", "dial", "hangup"]
MAX = 64 * 1024

seen: set[str] = set()  # In production: in a database, and only for some days.
printing = Lock()


def is_signed(headers, body: bytes) -> bool:
    """Whether one of the Standard Webhooks signatures is ours, and no older than five minutes."""
    id, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (id and "." not in id and stamp.isascii() and stamp.isdecimal() and len(stamp) < 12):
        return False
    mac = hmac.digest(SECRET, f"{id}.{stamp}.".encode() + body, "sha256")
    ours = b"v1," + b64encode(mac)
    given = headers.get("webhook-signature", "").encode().split(b" ")
    signed = any(hmac.compare_digest(one, ours) for one in given)
    return signed and abs(time.time() - int(stamp)) <= 300


def event_in(body: bytes) -> dict | None:
    """A notification of either form, in the current one."""
    try:
        event = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict):
        return None
    data = event.get("data") if isinstance(event.get("data"), dict) else {}
    type = event.get("type", event.get("event"))
    if not isinstance(type, str) or not type:
        return None
    return {**event, "type": type, "call_id": event.get("call_id") or data.get("call_id"), "data": data}


def decide(body: bytes) -> bytes:
    """What a call does next. The keys after a gather end it, as a line of JSON."""
    call = json.loads(body)
    if "digits" in call:
        with printing:
            print(json.dumps({"call_id": call["call_id"], "digits": call["digits"]}), flush=True)
        return HANGUP
    return ACTION if json.loads(ACTION)["action"] in call.get("actions", BASIC) else HANGUP


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # The head and the body are two writes.

    def answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX:
            self.close_connection = True  # What is not read would be taken for the next request.
            return self.answer(413)
        body = self.rfile.read(int(length))
        path = self.path.split("?")[0]
        if path == "/flow":  # In production: recognize the call by a token in the URL.
            try:
                return self.answer(200, decide(body))
            except (ValueError, AttributeError, LookupError, TypeError):
                return self.answer(400)
        if path != "/status":
            return self.answer(404)
        if not is_signed(self.headers, body):
            return self.answer(401)
        event = event_in(body)
        if event is None:
            return self.answer(400)
        # Act first, then respond: what is received is not sent again.
        with printing:
            if self.headers["webhook-id"] not in seen:
                seen.add(self.headers["webhook-id"])
                print(json.dumps(event), flush=True)
        self.answer(204)

    def log_message(self, *_: object) -> None:
        pass  # The log of the base class shows URLs, which may have a token.


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Receiver)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
