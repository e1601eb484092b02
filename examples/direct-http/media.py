"""The service's side of a media socket (docs/service.md), on a WebSocket of RFC 6455 in Python's standard library."""

import hashlib
import json
import os
import socket
import ssl
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator
from urllib.parse import urlsplit

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
MAX = 2**20 + 4096


def connect(url: str) -> socket.socket:
    at = urlsplit(url)
    secure = at.scheme == "wss"
    link = socket.create_connection((at.hostname, at.port or (443 if secure else 80)), timeout=10)
    if secure:
        link = ssl.create_default_context().wrap_socket(link, server_hostname=at.hostname)
    key = b64encode(os.urandom(16)).decode()
    target = f"{at.path or '/'}{at.query and '?'}{at.query}"
    link.sendall(f"GET {target} HTTP/1.1\r\nHost: {at.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = link.recv(1)
        if not byte or len(head) > 16_384:
            raise OSError("no handshake")
        head += byte
    digest = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
    if not head.startswith(b"HTTP/1.1 101 ") or b64encode(digest) not in head:
        raise OSError("refused")
    link.settimeout(None)
    return link


def frame(opcode: int, payload: bytes) -> bytes:
    """A whole message of a client, which is masked."""
    size = len(payload)
    length = bytes([size | 128]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    if size > 65_535:
        length = b"\xff" + size.to_bytes(8, "big")
    mask = os.urandom(4)
    masked = int.from_bytes(payload, "big") ^ int.from_bytes((mask * (size // 4 + 1))[:size], "big")
    return bytes([128 | opcode]) + length + mask + masked.to_bytes(size, "big")


def messages(link: socket.socket) -> Iterator[tuple[int, bytes]]:
    """The messages of a server, until the connection ends."""
    with link.makefile("rb") as file:
        whole, kind = b"", TEXT
        while head := file.read(2):
            size = head[1] & 127
            size = int.from_bytes(file.read(2 if size == 126 else 8), "big") if size > 125 else size
            if size + len(whole) > MAX:
                return
            opcode, payload = head[0] & 15, file.read(size)
            if opcode >= CLOSE:
                yield opcode, payload
                continue
            whole, kind = whole + payload, opcode or kind
            if head[0] & 128:
                yield kind, whole
                whole = b""


def apply(message: bytes, queue: list[tuple[object, bytes]]) -> None:
    """What an application's message does to the audio that waits; malformed ones are skipped."""
    try:
        fields = json.loads(message)
        kind = fields.get("type")
        fields = fields["data"] if kind == "audio" and isinstance(fields.get("data"), dict) else fields
        if kind == "audio":
            queue.append((fields.get("chunk_id"), b64decode(fields["audio_b64"], validate=True)))
        elif kind == "interrupt":
            queue[:] = [each for each in queue if each[0] != fields["chunk_id"]]
        elif kind == "clear":
            queue.clear()
    except (ValueError, KeyError, TypeError, AttributeError):
        pass


def stream(action: dict, ids: dict[str, str], second: float) -> int:
    """Streams silence until the application closes the socket, and returns how many bytes wait for the callee then.

    Raises OSError if the socket can't be opened. `second` is how long a second lasts.
    """
    rate, chunk = {"8k": 8000, "16k": 16_000}[action.get("sample_rate", "8k")], action.get("chunk_size", 400)
    link, closed, queue = connect(action["ws_url"]), threading.Event(), []

    def listen() -> None:
        try:
            for opcode, payload in messages(link):
                if opcode == CLOSE:
                    break
                if opcode == PING:
                    link.sendall(frame(PONG, payload))
                if opcode == TEXT:
                    apply(payload, queue)
        except OSError:
            pass  # The connection was lost, which ends the stream too.
        closed.set()

    threading.Thread(target=listen, daemon=True).start()
    start = {"encoding": "audio/l16", "sample_rate": rate, "channels": 1}
    message = {"type": "start", **ids, "message_id": 1, "data": start}
    silence = {"audio_b64": b64encode(bytes(rate * chunk // 1000 * 2)).decode()}
    try:
        while True:
            link.sendall(frame(TEXT, json.dumps(message).encode()))
            if closed.wait(chunk / 1000 * second):
                break
            message = {"type": "audio", "stream_id": ids["stream_id"], "message_id": message["message_id"] + 1,
                       "data": silence}
        link.sendall(frame(CLOSE, (1000).to_bytes(2, "big")))
    except OSError:
        pass
    link.close()
    return sum(len(audio) for _, audio in queue)
