"""A service in Python's standard library, as docs/service.md describes it: python3 service.py (see README.md).

It dials nobody: each call is answered at once, and a callee who listens is as good as any.
"""

import hmac
import http.client
import json
import os
import random
import re
import ssl
import time
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from media import stream

KEY = os.environ["OUTDIAL_API_KEY"]
NUMBERS = os.environ.get("FROM_NUMBER", "").split()
SECRET = b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
LOOPBACK = os.environ.get("LOOPBACK") == "1"  # Whether plain http to this machine is allowed.
SECOND = float(os.environ.get("SECOND", "1"))  # How long a second of a retry lasts.
SCHEMAS = json.loads((Path(__file__).parents[2] / "docs/openapi.json").read_text())["components"]["schemas"]
PATHS = ("/api/v1/calls/initiate", "/api/v1/voice/calls/initiate")
FAILURES = {"+12025550101": "busy", "+12025550102": "no_answer", "+12025550104": "unreachable"}
MAX = 64 * 1024
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_id(kind: str) -> str:
    return f"{kind}_{''.join(random.choices(LETTERS, k=26))}"


def rule(value: object, schema: dict) -> str | None:
    """The rule of openapi.json that a single value breaks."""
    schema = {**SCHEMAS.get(schema.get("$ref", "").split("/")[-1], {}), **schema}
    kind = {"string": str, "boolean": bool}[schema["type"]]
    if not isinstance(value, kind) or len(str(value)) > schema.get("maxLength", MAX):
        return f"must be a {schema['type']}, not too long"
    if "pattern" in schema and not re.fullmatch(schema["pattern"], str(value), re.ASCII):
        return f"must match {schema['pattern']}"
    plain = "HttpUrl" in schema.get("$ref", "") and not LOOPBACK and str(value).startswith("http:")
    return "must be https" if plain else None


def errors(body: object) -> list[dict]:
    """Every error in the fields of a request."""
    if not isinstance(body, dict):
        return [{"loc": ["body"], "msg": "must be an object", "type": "value_error"}]
    fields, required = SCHEMAS["CallParams"]["properties"], SCHEMAS["CallParams"]["required"]
    found = [("missing", name, "Field required") for name in required if name not in body]
    found += [("extra_forbidden", name, "is unknown") for name in body if name not in fields]
    found += [("value_error", n, msg) for n in body if n in fields and (msg := rule(body[n], fields[n]))]
    return [{"loc": ["body", name], "msg": msg, "type": kind} for kind, name, msg in found]


def send(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """One POST, without redirects: its status and body; 0 without a response."""
    at = urlsplit(url)
    secure = {"context": ssl.create_default_context()} if at.scheme == "https" else {}
    connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = connect(at.netloc, timeout=10, **secure)
    try:
        connection.request("POST", f"{at.path or '/'}{at.query and '?'}{at.query}", body,
                           {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, response.read(MAX + 1)
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def deliver(url: str, event: dict) -> None:
    """Sends a notification until it is received, six times at most."""
    body = json.dumps(event).encode()
    for attempt in range(6):
        stamp = str(int(time.time()))
        mac = hmac.digest(SECRET, f"{event['id']}.{stamp}.".encode() + body, "sha256")
        status, _ = send(url, body, {"webhook-id": event["id"], "webhook-timestamp": stamp,
                                     "webhook-signature": f"v1,{b64encode(mac).decode()}"})
        if 200 <= status < 300 or status in (400, 401, 403, 404, 410):
            return
        time.sleep(SECOND * 2**attempt * random.uniform(0.5, 1.5) if attempt < 5 else 0)


def follow(call: dict) -> str:
    """Performs the flow of an answered call, and returns why the call ended."""
    numbers = {name: call[name] for name in ("from_number", "to_number")}
    request = {"call_id": call["id"], "account_id": "ac_1", **numbers, "direction": "outbound"}
    url = call["flow_url"]
    for _ in range(50):
        status, body = send(url, json.dumps(request).encode(), {})
        try:
            action = json.loads(body) if 200 <= status < 300 and len(body) <= MAX else {}
            kind = action.get("action")
        except (ValueError, AttributeError):
            kind = None
        if kind not in ("play", "stream", "hangup"):
            return "flow_error"  # No second call: this service dials nobody.
        if kind == "stream":
            ids = {"account_id": "ac_1", "call_id": call["id"], "stream_id": new_id("st")}
            try:
                print(json.dumps({"waiting": stream(action, ids, SECOND)}), flush=True)
            except (OSError, ValueError, KeyError):
                return "flow_error"
        if kind == "hangup" or "flow_url" not in action:
            return "normal"
        if rule(url := action["flow_url"], {"$ref": "HttpUrl"}):
            return "flow_error"
    return "flow_error"


def run(call: dict) -> None:
    """A call from dialling to its end."""
    with ThreadPoolExecutor(1) as outbox:  # One after the other, beside the call.

        def notify(type: str, **details: object) -> None:
            data = {"call_id": call["id"], "from": call["from_number"], "to": call["to_number"], **details}
            event = {"id": new_id("evt"), "type": type, "api_version": "2026-06-01", "occurred_at": now(),
                     "account_id": "ac_1", "call_id": call["id"], "data": data}
            outbox.submit(deliver, call["status_callback_url"], event)

        notify("call.initiated", start_time=now())
        reason = FAILURES.get(call["to_number"])
        if reason in (None, "no_answer"):
            notify("call.ringing")
        if reason:
            return notify("call.failed", reason=reason, hangup_time=now())
        notify("call.answered", answer_time=now())
        start = time.monotonic()
        reason = follow(call)
        notify("call.completed", duration=int(time.monotonic() - start), hangup_time=now(), reason=reason)


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
        call = {"id": new_id("cs"), "record": True, **fields}
        CALLS.submit(run, call)
        shown = {name: value for name, value in call.items() if name != "flow_url"}
        self.answer(202, {"message": "Call accepted.", "data": shown})

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = route

    def log_message(self, *_: object) -> None:
        pass  # The log of the base class has no use for who reads only numbers.


if __name__ == "__main__":
    CALLS = ThreadPoolExecutor(32)
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Service)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
