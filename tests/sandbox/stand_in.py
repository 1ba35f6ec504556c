"""A program that takes the place of the bot: it answers as a replica does, and starts at once.

`READY=no` makes it never ready. It says its own ports at its start.
"""

import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMAND = (sys.executable, str(Path(__file__)))
METRICS = b"# HELP kirim_leading 1 while\nkirim_leading 1.0\nkirim_chat_leases_held 3.0\n"


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        is_ready = os.environ.get("READY") != "no"
        body = METRICS if self.path == "/metrics" else str(os.getpid()).encode()
        self.send_response(200 if is_ready or self.path == "/metrics" else 503)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def main() -> None:
    sys.stderr.write(f"serving as {os.getpid()}\nwithout an end of line")
    sys.stderr.flush()
    for name in ("HTTP_PORT", "METRICS_PORT"):
        server = ThreadingHTTPServer(("127.0.0.1", int(os.environ[name])), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.pause()


if __name__ == "__main__":
    main()
