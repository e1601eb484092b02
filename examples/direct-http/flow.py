"""What service.py does with a call: it sends notifications and follows the flow (docs/service.md).

It dials nobody: each call is answered at once, and the callee is silent, but for the keys in KEYS, one answer after another.
"""

import hmac
import http.client
import json
import os
import random
import ssl
import time
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from urllib.parse import urlsplit

from media import stream
from rules import MAX, rule

SECRET = b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
SECOND = float(os.environ.get("SECOND", "1"))  # How long a second of a retry lasts.
FAILURES = {"+12025550101": "busy", "+12025550102": "no_answer", "+12025550104": "unreachable"}
KEYS = os.environ.get("KEYS", "").split()
ACTIONS = ["play", "stream", "hangup", "say", "gather"]  # No second call: this service dials nobody.
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_id(kind: str) -> str:
    return f"{kind}_{''.join(random.choices(LETTERS, k=26))}"


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


def speaks(action: dict) -> bool:
    """Whether the prompts of an action, and the end of its answer, are within their rules."""
    prompts = action.get("prompts")
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= 10:
        return False
    for prompt in prompts:
        match prompt:
            case {"text": str(text), **rest} if text.strip() and len(text) <= 1500 and not rest: pass
            case {"media_url": url, **rest} if not rule(url, {"$ref": "HttpUrl"}) and not rest: pass
            case {"pause_ms": int(ms), **rest} if ms % 1000 == 0 and 1000 <= ms <= 180_000 and not rest: pass
            case _: return False
    return action["action"] == "say" or "digits" in action or action.get("finish_on_key") == "#"


def follow(call: dict) -> str:
    """Performs the flow of an answered call, and returns why the call ended."""
    numbers = {name: call[name] for name in ("from_number", "to_number")}
    request = {"call_id": call["id"], "account_id": "ac_1", **numbers, "direction": "outbound", "actions": ACTIONS}
    url, keys = call["flow_url"], iter(KEYS)
    for _ in range(50):
        status, body = send(url, json.dumps(request).encode(), {})
        try:
            action = json.loads(body) if 200 <= status < 300 and len(body) <= MAX else {}
            kind = action.get("action")
        except (ValueError, AttributeError):
            kind = None
        if kind not in ACTIONS or (kind in ("say", "gather") and not speaks(action)):
            return "flow_error"
        request.pop("digits", None)
        if kind == "gather":
            pressed, *_ = next(keys, "").split(action.get("finish_on_key", " "))
            request["digits"] = pressed[:action.get("digits", 20)]
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
