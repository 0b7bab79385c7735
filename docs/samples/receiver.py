"""Receives webhook events from Lastseen. Python 3.8 or newer, nothing to install.

    WEBHOOK_SECRET=whsec_... PORT=9000 python3 receiver.py

It speaks plain HTTP: put it behind something that speaks HTTPS, because Lastseen calls nothing else.
"""

import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
TOLERANCE_SECONDS = 5 * 60

# An event may come twice. Keep these ids where they survive a restart, at least for a few minutes.
seen = set()


def is_genuine(timestamp: str, signature: str, body: bytes) -> bool:
    """The key is the secret as it was shown, whsec_ included; the text is the timestamp, a dot, and the raw bytes."""
    expected = "sha256=" + hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


def is_recent(timestamp: str) -> bool:
    return timestamp.isdigit() and abs(time.time() - int(timestamp)) <= TOLERANCE_SECONDS


def handle(moved: dict) -> None:
    data = moved["data"]
    origin = data["from_location"]["name"] if data["from_location"] else "(nowhere)"
    print(moved["occurred_at"], data["asset"]["external_key"], origin, "->", data["to_location"]["name"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        timestamp = self.headers.get("X-Service-Timestamp", "")
        if not is_genuine(timestamp, self.headers.get("X-Service-Signature", ""), body) or not is_recent(timestamp):
            return self.answer(401)
        moved = json.loads(body)
        # Answer within 5 seconds; do longer work afterwards.
        self.answer(204)
        if moved["event"] != "asset.moved" or moved["delivery_id"] in seen:
            return
        seen.add(moved["delivery_id"])
        handle(moved)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 9000))), Receiver)
    print("listening", flush=True)
    server.serve_forever()
