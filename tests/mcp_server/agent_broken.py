"""The agent tool server with a bug: it fails on every number, and repeats the number."""

from unittest.mock import patch

from bot.mcp_server import arguments
from bot.mcp_server import command as agent


def main() -> None:
    """Serve as `python -m bot mcp` does."""
    with patch.object(arguments, "check_number", _fails):
        agent.main()


def _fails(_method: object, details: object) -> str:
    raise RuntimeError(details)
