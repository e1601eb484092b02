"""A service in Python's standard library, as docs/service.md describes it: python3 service.py (see README.md)."""

import hmac
import json
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from flow import new_id, run
from rules import MAX, errors

KEY = os.environ["OUTDIAL_API_KEY"]
NUMBERS = os.environ.get("FROM_NUMBER", "").split()
DAY = 24 * 3600
KEPT: dict[str, tuple[float, bytes, dict]] = {}  # By Idempotency-Key: until when, the body, the call. A real service stores it.
ONCE = threading.Lock()
PATHS = ("/api/v1/calls/initiate", "/api/v1/voice/calls/initiate")


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # The head and the body are two writes.

    def answer(self, status: int, body: dict, **headers: str) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def refuse(self, status: int, detail: str | list[dict], **headers: str) -> None:
        lines = detail if isinstance(detail, str) else "; ".join(f"{'.'.join(e['loc'])}: {e['msg']}" for e in detail)
        self.answer(status, {"detail": detail, "message": lines}, **headers)

    def route(self) -> None:
        length = self.headers.get("Content-Length", "0")
        size = int(length) if length.isdecimal() and "Transfer-Encoding" not in self.headers else 2**30
        self.close_connection = size > 2**20  # What is not read would be taken for the next request.
        body = b"" if self.close_connection else self.rfile.read(size)
        key, media = self.headers.get("X-API-Key"), self.headers.get("Content-Type", "")
        if self.path not in PATHS:
            return self.refuse(404, "Not Found")
        if self.command != "POST":
            return self.refuse(405, "Method Not Allowed", Allow="POST")
        if key is None:
            return self.refuse(422, [{"loc": ["header", "x-api-key"], "msg": "Field required", "type": "missing"}])
        if not hmac.compare_digest(key.encode(), KEY.encode()):
            return self.refuse(403, "Invalid API Key.")
        if media.split(";")[0].strip().lower() != "application/json":
            return self.refuse(415, "Content-Type must be application/json.")
        if size > MAX:
            return self.refuse(413, "The body must be at most 64 KiB.")
        try:
            fields = json.loads(body.decode("utf-8"), parse_constant=lambda name: int(name))
        except (ValueError, RecursionError):
            return self.refuse(400, "The body must be JSON in UTF-8.")
        if found := errors(fields):
            return self.refuse(422, found)
        if NUMBERS and fields["from_number"] not in NUMBERS:
            return self.refuse(403, "from_number does not belong to this account.")
        once = self.headers.get("Idempotency-Key")
        if once is not None and not re.fullmatch("[A-Za-z0-9_-]{1,64}", once):
            return self.refuse(422, [{"loc": ["header", "idempotency-key"], "msg": "1 to 64 of A-Z a-z 0-9 _ -", "type": "value_error"}])
        with ONCE:  # Nothing else is placed between the look-up and the call.
            until, kept, call = KEPT.get(once or "", (0.0, b"", {}))
            is_new = until < time.time()
            if is_new:
                call = {"id": new_id("cs"), "record": True, **fields}
                if once is not None:
                    KEPT[once] = (time.time() + DAY, body, call)
                CALLS.submit(run, call)
        if not is_new and kept != body:
            text = "The Idempotency-Key has placed another call."
            return self.answer(409, {"detail": text, "message": text, "code": "idempotency_conflict"})
        shown = {name: value for name, value in call.items() if name != "flow_url"}
        self.answer(202, {"message": "Call accepted.", "data": shown})

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = route

    def log_message(self, *_: object) -> None:
        pass  # No line on stderr for each request.


if __name__ == "__main__":
    CALLS = ThreadPoolExecutor(32)
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Service)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
