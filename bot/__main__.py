"""The commands, such as `kirim run`. docs/setup.md lists them."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bot import __version__, config
from bot.core.imports import without_collection
from bot.infra import logging as logs
from bot.infra.redaction import know_secrets

if TYPE_CHECKING:
    from bot.infra.db.database import Database

BAD_SETTINGS = 2
RUNNING_ON_OLDER_TABLES = (
    "Another version of the bot is using this database. Stop it, then run this again. Or start this version now with "
    "`kirim run`: it waits until the other one has stopped, then upgrades the database."
)

cli = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        typer.echo(f"Kirim {__version__}")
        raise typer.Exit


@cli.callback()
def kirim(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Kirim: send rupiah from Telegram, paid with bitcoin."""


@cli.command()
def run() -> None:
    """Run the bot. Upgrades the database first. On PostgreSQL several can run at once."""
    settings = _settings()
    with without_collection():
        from bot import process  # noqa: PLC0415  a bad setting is reported before the whole program is loaded
        from bot.infra.watchdog import Watchdog  # noqa: PLC0415  likewise

    async def run_watched(stop: asyncio.Event) -> int:
        async with Watchdog().running():
            return await process.run(settings, stop, process_id)

    process_id = logs.configure(settings.log_level, settings.log_format)
    with _report_database_errors(), _report_port_errors():
        sys.exit(_until_stopped(run_watched))


@cli.command()
def sandbox(
    *,
    profile: Annotated[
        Literal["documented", "live"], typer.Option(help="Follow the API document, or behave like the live service.")
    ] = "documented",
    telegram_limit: Annotated[
        Literal["all", "bulk"],
        typer.Option(help="What Telegram's limit of 30 messages a second counts: all, or only those in bulk."),
    ] = "all",
    without_bot: Annotated[
        bool, typer.Option("--without-bot", help="Don't start the bot, only the service and Telegram servers.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start from scratch: delete the sandbox's saved state.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port of the chat page and the Bot API.")] = 8480,
    service_port: Annotated[int, typer.Option(help="Port of the settlement service.")] = 8481,
    wallet_port: Annotated[int, typer.Option(help="Port of the bot's wallet pages.")] = 8482,
    replicas: Annotated[
        int, typer.Option(min=1, max=5, help="How many processes of the bot work together. Several need PostgreSQL.")
    ] = 1,
    state: Annotated[Path, typer.Option("--state", help="Folder of the sandbox's saved state.")] = Path("data/sandbox"),
) -> None:
    """Run a complete sandbox on this machine: service, Telegram chat page and bot."""
    try:
        from bot.sandbox import run as sandbox_run  # noqa: PLC0415  see run
    except ModuleNotFoundError as missing:
        if missing.name != "bot.sandbox":
            raise
        typer.echo("The sandbox isn't part of this image. Run it from the project.", err=True)
        sys.exit(BAD_SETTINGS)
    if not without_bot and find_spec("telegram") is None:
        raise ModuleNotFoundError(name="telegram")  # an installation for agents: the bot's process would fail later
    logs.configure("info", "console")
    options = sandbox_run.SandboxOptions(
        state=state,
        profile=profile,
        telegram_limit=telegram_limit,
        page_port=port,
        service_port=service_port,
        wallet_port=wallet_port,
        with_bot=not without_bot,
        fresh=fresh,
        replicas=replicas,
        database_url=os.environ.get("DATABASE_URL", ""),
    )
    try:
        sys.exit(_until_stopped(lambda stop: sandbox_run.run(options, stop)))
    except sandbox_run.CantStart as error:
        typer.echo(str(error), err=True)
        sys.exit(BAD_SETTINGS)


@cli.command()
def mcp() -> None:
    """Run the tool server for AI agents (Model Context Protocol)."""
    from bot import mcp_server  # noqa: PLC0415  see run

    mcp_server.main()


@cli.command()
def migrate() -> None:
    """Upgrade the database schema."""
    settings = _settings()
    from bot import process  # noqa: PLC0415  see run

    logs.configure(settings.log_level, settings.log_format)
    with _report_database_errors():
        try:
            typer.echo(f"The database schema is up to date: {asyncio.run(process.migrate(settings))}.")
        except process.BotIsRunning:
            typer.echo(RUNNING_ON_OLDER_TABLES, err=True)
            sys.exit(1)


@cli.command("new-key")
def new_key() -> None:
    """Create a key for ENCRYPTION_KEYS and print it."""
    from bot.infra.db.vault import generate_key  # noqa: PLC0415  see run

    typer.echo(generate_key())


@cli.command("rotate-keys")
def rotate_keys() -> None:
    """Re-encrypt the database with the first key in ENCRYPTION_KEYS. The bot can keep running."""
    settings = _settings()
    from bot.app import create_database  # noqa: PLC0415  see run
    from bot.operations import database_commands  # noqa: PLC0415  see run

    logs.configure("error", settings.log_format)
    with _report_database_errors():
        sys.exit(asyncio.run(database_commands.rotate_keys(create_database(settings), typer.echo)))


@cli.command("set-aside", context_settings={"ignore_unknown_options": True})  # the number of a job is negative
def set_aside(
    table: Annotated[Literal["outbox", "inbox"], typer.Argument(help="Where it waits, as the alarm names it.")],
    key: Annotated[int, typer.Argument(help="Its number, as the alarm names it.")],
) -> None:
    """End a waiting message or job whose kind this version doesn't know."""
    settings = _settings()
    from bot.app import create_database  # noqa: PLC0415  see run
    from bot.operations import database_commands  # noqa: PLC0415  see run

    logs.configure("error", settings.log_format)
    with _report_database_errors():
        sys.exit(asyncio.run(database_commands.set_aside(create_database(settings), table, key, typer.echo)))


@cli.command("copy-database")
def copy_database(
    source: Annotated[str, typer.Option("--from", help="The database to copy: sqlite:///path or postgresql://…")],
) -> None:
    """Copy all data of another database into the empty one of DATABASE_URL. Stop every bot first."""
    settings = _settings()
    from bot.app import create_database  # noqa: PLC0415  see run
    from bot.operations import database_commands  # noqa: PLC0415  see run

    def open_database(url: str) -> "Database":
        return create_database(settings.model_copy(update={"database_url": url}))

    logs.configure("error", settings.log_format)
    with _report_database_errors():
        sys.exit(asyncio.run(database_commands.copy_database(source, settings.database_url, open_database, typer.echo)))


@cli.command()
def check(
    *,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every setting too, without secrets.")] = False,
) -> None:
    """Check settings, database, keys, Telegram and the service. Changes nothing."""
    settings = _settings()
    from bot.app import create_database, create_telegram_application  # noqa: PLC0415  see run
    from bot.operations import check as checking  # noqa: PLC0415  see run

    logs.configure("error", settings.log_format)
    checks = checking.build_checks(
        settings, lambda: create_database(settings), lambda: create_telegram_application(settings).bot
    )
    listed = checking.list_settings(settings) if verbose else ()
    sys.exit(asyncio.run(checking.run(checks, typer.echo, listed)))


@cli.command()
def routes() -> None:
    """Print every command and button with who may use it."""
    from bot.app import build_declared  # noqa: PLC0415  see run
    from bot.updates import list_routes  # noqa: PLC0415  see run

    for route in list_routes(build_declared()):
        owner = f"their own {route.belongs_to}" if route.belongs_to else "-"
        typer.echo(f"{route.name:<16} {route.audience:<12} {owner}")


def _settings() -> config.Settings:
    try:
        settings = config.load()
    except config.ConfigError as error:
        import_module("sqlalchemy")  # without the bot's packages, its settings don't matter: see main
        typer.echo(str(error), err=True)
        sys.exit(BAD_SETTINGS)
    know_secrets(config.secret_values(settings))
    return settings


@contextmanager
def _report_database_errors() -> Iterator[None]:
    """Report in one line that the database can't be used, without a traceback or a password."""
    from bot.infra.db.errors import SchemaMismatch, StoreError, UnsuitableServer, UnusableUrl  # noqa: PLC0415  see run
    from bot.infra.db.vault import MissingKey, NoKeys  # noqa: PLC0415  see run

    try:
        yield
    except (NoKeys, MissingKey) as error:
        typer.echo(f"ENCRYPTION_KEYS don't match the database: {error}.", err=True)
        sys.exit(BAD_SETTINGS)
    except StoreError as error:
        typer.echo(f"Kirim can't use the database (DATABASE_URL): {error}.", err=True)
        sys.exit(BAD_SETTINGS if isinstance(error, UnusableUrl | UnsuitableServer | SchemaMismatch) else 1)


@contextmanager
def _report_port_errors() -> Iterator[None]:
    """Report in one line that a port can't be opened."""
    from bot.infra.http.ports import PortTaken  # noqa: PLC0415  see run

    try:
        yield
    except PortTaken as error:
        typer.echo(f"Kirim can't open {error}", err=True)
        sys.exit(BAD_SETTINGS)


def _until_stopped(start: Callable[[asyncio.Event], Coroutine[Any, Any, int | None]]) -> int:
    async def main() -> int:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signal_number, stop.set)
        return await start(stop) or 0

    return asyncio.run(main())


def main() -> None:
    """Run the installed command."""
    try:
        cli()
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] == "bot":
            raise
        # requirements-mcp.lock has only what the tools for AI agents need.
        only = "This installation is only for AI agents (`kirim mcp`)"
        sys.exit(f"{only}. The bot needs {missing.name}, too: install requirements.lock, as docs/setup.md says.")


if __name__ == "__main__":
    main()
