"""A test run that tests kill: it starts a server, or watches the one of `TEST_POSTGRES_URL`, and prints its URL."""

import os
import signal
import sys
from pathlib import Path

from tests.harness.postgresql import find, start


def main() -> None:
    """Begin a session, as a terminal does, and wait to be killed, interrupted or told to end."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits that it is ignored
    folders = [Path(argument) for argument in sys.argv[1:]]
    server = start(folders[0], folders[1]) if folders else find()
    print(server.url, flush=True)  # noqa: T201  the test reads it
    sys.stdin.read()
