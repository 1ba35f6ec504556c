"""The commands: `python -m bot run | sandbox | mcp | migrate | new-key | rotate-keys | check | keys`."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bot import config, logs

BAD_SETTINGS = 2
RUNNING_ON_OLDER_TABLES = (
    "A bot of another version is running on this database. Stop it first. Or start this version beside it: it waits, "
    "and brings the database up to date when the other one has stopped."
)

cli = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Kirim: send rupiah from a chat.", pretty_exceptions_enable=False
)
keys = typer.Typer(help="The sandbox service's API keys.", no_args_is_help=True)
cli.add_typer(keys, name="keys")
StateFolder = Annotated[Path, typer.Option("--state", help="Where the sandbox keeps its state.")]


@cli.command()
def run() -> None:
    """Run the bot, by long polling."""
    settings = _settings()
    from bot import app  # noqa: PLC0415  a bad setting should be told without loading the whole house

    logs.configure(settings.log_level, settings.log_format)
    with _database_trouble(), _port_trouble():
        sys.exit(_until_stopped(lambda stop: app.run(settings, stop)))


@cli.command()
def sandbox(
    *,
    profile: Annotated[Literal["documented", "live"], typer.Option(help="How the service behaves.")] = "documented",
    without_bot: Annotated[bool, typer.Option("--without-bot", help="Only the two servers.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what earlier sandboxes have kept.")] = False,
    port: Annotated[int, typer.Option(help="Chat page and Bot API.")] = 8480,
    service_port: Annotated[int, typer.Option(help="Settlement service.")] = 8481,
    wallet_port: Annotated[int, typer.Option(help="The bot's wallet pages.")] = 8482,
    state: StateFolder = Path("data/sandbox"),
) -> None:
    """Run everything on this machine: service, Telegram with a chat page, and the bot."""
    from bot.sandbox import run as sandbox_run  # noqa: PLC0415  see run

    logs.configure("info", "console")
    options = sandbox_run.SandboxOptions(
        state=state,
        profile=profile,
        page_port=port,
        service_port=service_port,
        wallet_port=wallet_port,
        with_bot=not without_bot,
        fresh=fresh,
    )
    sys.exit(_until_stopped(lambda stop: sandbox_run.run(options, stop)))


@cli.command()
def mcp() -> None:
    """Serve Kirim's tools to AI agents (Model Context Protocol)."""
    from bot import agent  # noqa: PLC0415  see run

    agent.main()


@cli.command()
def migrate() -> None:
    """Bring the database up to date."""
    settings = _settings()
    from bot import app  # noqa: PLC0415  see run

    logs.configure(settings.log_level, settings.log_format)
    with _database_trouble():
        try:
            typer.echo(f"The database is at revision {asyncio.run(app.migrate(settings))}.")
        except app.BotIsRunning:
            typer.echo(RUNNING_ON_OLDER_TABLES, err=True)
            sys.exit(1)


@cli.command("new-key")
def new_key() -> None:
    """Make a key for ENCRYPTION_KEYS."""
    from bot.store.vault import new_key as make  # noqa: PLC0415  see run

    typer.echo(make())


@cli.command("rotate-keys")
def rotate_keys() -> None:
    """Seal everything in the database anew with the first of ENCRYPTION_KEYS."""
    settings = _settings()
    from bot import rotating  # noqa: PLC0415  see run

    logs.configure("error", settings.log_format)
    with _database_trouble():
        sys.exit(asyncio.run(rotating.run(settings, typer.echo)))


@cli.command()
def check() -> None:
    """Say of every setting, the database, Telegram and the service whether it works."""
    settings = _settings()
    from bot import checks  # noqa: PLC0415  see run

    logs.configure("error", settings.log_format)
    sys.exit(asyncio.run(checks.run(settings, typer.echo)))


@keys.command("issue")
def issue_key(tenant: str, state: StateFolder = Path("data/sandbox")) -> None:
    """Issue a key to a tenant; its secret is shown this once."""
    from bot.sandbox import keys_cli  # noqa: PLC0415  see run

    typer.echo(keys_cli.issue_key(state / "settlement.db", tenant))


@keys.command("rotate")
def rotate_key(key_id: str, state: StateFolder = Path("data/sandbox")) -> None:
    """Replace a key by a new one."""
    from bot.sandbox import keys_cli  # noqa: PLC0415  see run

    typer.echo(keys_cli.rotate_key(state / "settlement.db", key_id))


@keys.command("revoke")
def revoke_key(key_id: str, state: StateFolder = Path("data/sandbox")) -> None:
    """Make a key worthless."""
    from bot.sandbox import keys_cli  # noqa: PLC0415  see run

    keys_cli.revoke_key(state / "settlement.db", key_id)


def _settings() -> config.Settings:
    try:
        return config.load()
    except config.ConfigError as error:
        typer.echo(str(error), err=True)
        sys.exit(BAD_SETTINGS)


@contextmanager
def _database_trouble() -> Iterator[None]:
    """A database that can't be used is the operator's business: one line, without a traceback or a password."""
    from bot.store import NoKeys, StoreError, UnfitKeys, UnusableUrl  # noqa: PLC0415  see run

    try:
        yield
    except (NoKeys, UnfitKeys) as error:
        typer.echo(f"Kirim can't open the database with these keys (ENCRYPTION_KEYS): {error}", err=True)
        sys.exit(BAD_SETTINGS)
    except StoreError as error:
        typer.echo(f"Kirim can't use the database (DATABASE_URL): {error}", err=True)
        sys.exit(BAD_SETTINGS if isinstance(error, UnusableUrl) else 1)


@contextmanager
def _port_trouble() -> Iterator[None]:
    """A port that can't be had, likewise."""
    from bot.web.server import PortTaken  # noqa: PLC0415  see run

    try:
        yield
    except PortTaken as error:
        typer.echo(f"Kirim can't serve its pages (HTTP_HOST, HTTP_PORT): {error}", err=True)
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
    """Entry point of the installed command."""
    cli()


if __name__ == "__main__":
    main()
