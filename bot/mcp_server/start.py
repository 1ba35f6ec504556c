"""The installed command `kirim-mcp`. A client waits while it starts, so it loads what it needs quickly."""

from bot.core.imports import without_collection


def main() -> None:
    """Run the tool server."""
    with without_collection():
        from bot.mcp_server import command  # noqa: PLC0415  loaded here, without collections

    command.main()
