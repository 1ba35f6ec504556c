"""Kirim for AI agents: the MCP server (Model Context Protocol), a second way to use the same settlement service."""

from bot.core.imports import without_collection


def main() -> None:
    """Run the installed command `kirim-mcp`. A client waits while it starts, so it loads what it needs quickly."""
    with without_collection():
        from bot.mcp_server import command  # noqa: PLC0415  loaded here, without collections

    command.main()
