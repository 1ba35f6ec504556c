"""The whole sandbox in one command: the settlement service, Telegram with the chat page, and the bot.

Both servers speak real HTTP on loopback. The bot is an unmodified `python -m bot run` in a process of its own. Its
environment tells it where the servers are. If it exits, it is restarted, as by any service manager.

With several replicas of the bot, the sandbox also starts PostgreSQL, and a balancer before their wallet pages.
"""

import asyncio
import base64
import secrets
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from bot.sandbox import databases, leftovers, page, ports, postgresql, settlement, telegram, wire
from bot.sandbox.bot_api.model import SANDBOX_TOKEN, SUPPORT_GROUP_ID, TotalLimit
from bot.sandbox.databases import Place
from bot.sandbox.postgresql import NoServer
from bot.sandbox.replicas import Balancer, Replicas

HOST = ports.HOST
POSTGRESQL_URLS = ("postgresql://", "postgres://")
KEY_FILE = "encryption.key"
OPERATORS, SUPPORT_AGENTS = "2001", "3001"
STUCK_SECONDS = "90"
"""When the bot reports a paid order that doesn't move: soon, but later than at the slowest speed of the panel."""


class CantStart(Exception):
    """The sandbox can't start. The text is one or two sentences for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxOptions:
    """Options of the sandbox. Port 0 is any free port. Without a `wallet_port` the bot has no wallet pages.

    `telegram_limit` is what Telegram's limit of 30 messages a second applies to. Several `replicas` of the bot work on
    the PostgreSQL database of `database_url`, or on a server that the sandbox starts.
    """

    state: Path = Path("data/sandbox")
    profile: str = "documented"
    telegram_limit: TotalLimit = "all"
    page_port: int = 8480
    service_port: int = 8481
    wallet_port: int | None = None
    with_bot: bool = True
    fresh: bool = False
    replicas: int = 1
    database_url: str = ""

    def check(self) -> None:
        """Check that the options fit together.

        Raises:
            CantStart: they don't.
        """
        if self.replicas > 1 and not self.with_bot:
            raise CantStart("--replicas and --without-bot don't fit together: the sandbox runs the replicas.")
        if self.fresh and self.has_own_database:
            raise CantStart(
                "--fresh doesn't delete your database in DATABASE_URL. Empty the database and delete the folder "
                f"{self.state} yourself, or unset DATABASE_URL."
            )

    @property
    def has_own_database(self) -> bool:
        """Whether the replicas use the user's own PostgreSQL."""
        return self.replicas > 1 and self.database_url.startswith(POSTGRESQL_URLS)

    @property
    def place(self) -> Place:
        """Where the bot's data is."""
        if self.has_own_database:
            return Place.OWN
        return Place.POSTGRESQL if self.replicas > 1 else Place.SQLITE

    @property
    def ports(self) -> Mapping[str, int]:
        """The ports, by the options that choose them."""
        wallet = {} if self.wallet_port is None else {"--wallet-port": self.wallet_port}
        return {"--port": self.page_port, "--service-port": self.service_port, **wallet}


async def run(options: SandboxOptions, stop: asyncio.Event) -> None:
    """Serve until `stop` is set.

    Raises:
        CantStart: an option, a port, another sandbox or PostgreSQL prevents it.
    """
    options.check()
    options.state.mkdir(parents=True, exist_ok=True)
    replicas = Replicas(options.replicas, options.state)
    async with AsyncExitStack() as stack:
        try:
            await asyncio.to_thread(stack.enter_context, leftovers.only_sandbox(options.state))
            ports.check(options.ports)
            if options.fresh:
                forget(options.state)
            elif databases.is_of_another_version(options.state):
                _move_aside(options)
            if options.with_bot:
                await asyncio.to_thread(stack.enter_context, leftovers.stopped_after_a_kill(options.state))
            database = await _open_database(options, stack)
            addresses = await stack.enter_async_context(servers(options, replicas))
            environment = bot_environment(options.state, addresses, database) | {"STUCK_SECONDS": STUCK_SECONDS}
            await _bring_data(options, environment)
        except (leftovers.SandboxIsRunning, ports.PortsUnusable, NoServer, databases.NotCopied) as error:
            raise CantStart(str(error)) from None
        if options.replicas > 1 and addresses.wallet is not None:
            balancer = Balancer(replicas.find_ready_ports)
            replicas.on_freeze = balancer.cut
            await stack.enter_async_context(balancer.serve(_port(addresses.wallet)))
        if options.with_bot:
            announcing = asyncio.create_task(_announce_when_ready(options, addresses))
            await replicas.run(environment, stop)
            announcing.cancel()
        else:
            announce_settings(options, addresses, environment)
            await stop.wait()


def _is_moving(options: SandboxOptions) -> bool:
    """Return whether the bot's data is elsewhere, since the last start had another number of replicas."""
    return databases.find(options.state) not in {None, options.place}


async def _open_database(options: SandboxOptions, stack: AsyncExitStack) -> str | None:
    """Return the URL of the replicas' PostgreSQL, or None for one bot. `stack` stops a server that is started.

    A database that the bot's data moves to is empty.

    Raises:
        NoServer: PostgreSQL isn't installed, or doesn't start.
    """
    if options.has_own_database:
        return options.database_url
    is_moving = _is_moving(options)
    if options.place is Place.SQLITE:
        if is_moving:
            databases.delete_sqlite(options.state)
        return None
    if is_moving:
        postgresql.delete(options.state)
    return await stack.enter_async_context(_postgresql(options.state))


@asynccontextmanager
async def _postgresql(state: Path) -> AsyncIterator[str]:
    """Run the server in the block, and yield the URL of its database."""
    try:
        yield await asyncio.to_thread(postgresql.start, state)
    finally:
        await asyncio.to_thread(postgresql.stop, state)


async def _bring_data(options: SandboxOptions, environment: Mapping[str, str]) -> None:
    """Copy the bot's data from where it was at the last start, if that is elsewhere.

    Raises:
        NotCopied: it can't be copied.
        NoServer: PostgreSQL isn't installed any more, or doesn't start.
    """
    if _is_moving(options):
        sys.stdout.write("\n  Copying the bot's data to its other database. All chats and orders stay.\n")
        sys.stdout.flush()
        async with _find_source(options) as source:
            await databases.copy(source, environment)
    databases.remember(options.state, options.place)


@asynccontextmanager
async def _find_source(options: SandboxOptions) -> AsyncIterator[str]:
    """Yield the URL of the database that the bot used at the last start. It can be used in the block."""
    place = databases.find(options.state)
    if place is Place.POSTGRESQL:
        async with _postgresql(options.state) as url:
            yield url
    elif place is Place.SQLITE:
        yield databases.sqlite_url(options.state)
    elif options.database_url.startswith(POSTGRESQL_URLS):
        yield options.database_url
    else:
        raise databases.NotCopied(
            "The bot's data of this sandbox is in your own PostgreSQL. Name it in DATABASE_URL, choose another folder "
            "with --state, or start over with --fresh."
        )


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the servers listen. `wallet` is the address for the bot's wallet pages.

    `page_app` and `service_app` answer there. Code in the same process can call them without a connection.
    """

    page: str
    service: str
    wallet: str | None = None
    page_app: ASGIApp | None = None
    service_app: ASGIApp | None = None
    polled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the bot asks Telegram for updates the first time."""


@asynccontextmanager
async def servers(options: SandboxOptions, replicas: Replicas | None = None) -> AsyncIterator[Addresses]:
    """Start both servers. They keep their state in `options.state`. The page controls the `replicas`."""
    service_app = settlement.create_app(
        settlement.SettlementSandboxSettings(state_path=options.state / "settlement.db", profile=options.profile)
    )
    async with _serving(wire.server_config(service_app, HOST, options.service_port)) as service:
        limits = telegram.Limits(total_applies_to=options.telegram_limit)
        telegram_app = telegram.create_app(
            telegram.TelegramSandboxSettings(state_path=options.state / "telegram.db", limits=limits),
            page.routes(service_app, replicas),
        )
        async with _serving(wire.server_config(telegram_app, HOST, options.page_port)) as front:
            wallet = _wallet_address(options)
            yield Addresses(front, service, wallet, telegram_app, service_app, telegram_app.state.box.updates.polled)


def _wallet_address(options: SandboxOptions) -> str | None:
    """Return the address of the wallet pages."""
    if options.wallet_port is None:
        return None
    return f"http://{HOST}:{options.wallet_port or ports.choose_free()}"


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


def bot_environment(state: Path, addresses: Addresses, database_url: str | None = None) -> dict[str, str]:
    """Return the settings of a bot in this sandbox. Without a `database_url` it works on SQLite.

    None of them gives access to anything outside the sandbox, except the user's own `database_url`.
    """
    wallet = addresses.wallet
    return {
        "TELEGRAM_BOT_TOKEN": SANDBOX_TOKEN,
        "TELEGRAM_API_URL": addresses.page,
        "SERVICE_API_KEY": settlement.SANDBOX_API_KEY,
        "SERVICE_BASE_URL": addresses.service,
        "DATABASE_URL": database_url or databases.sqlite_url(state),
        "ENCRYPTION_KEYS": _encryption_key(state),
        "INVOICE_NETWORK": "bcrt",
        "OPERATOR_IDS": OPERATORS,
        "SUPPORT_IDS": SUPPORT_AGENTS,
        "SUPPORT_CHAT_ID": str(SUPPORT_GROUP_ID),
        **({"PUBLIC_URL": wallet, "HTTP_PORT": str(_port(wallet))} if wallet else {}),
    }


def _encryption_key(state: Path) -> str:
    """Return the bot's encryption key in this sandbox, created on first use."""
    file = state / KEY_FILE
    if not file.exists():
        made = file.with_suffix(".new")
        made.touch(mode=0o600)
        made.write_text(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(), encoding="ascii")
        made.replace(file)
    return file.read_text(encoding="ascii")


async def _announce_when_ready(options: SandboxOptions, addresses: Addresses) -> None:
    """Print that the bot starts, and the address to open when it answers."""
    _print("  Starting the bot …\n")
    await addresses.polled.wait()
    replicas = (
        f"  {options.replicas} replicas of the bot work on one PostgreSQL database.\n"
        "  Kill or freeze one in the settlement service's panel, at the bottom of the page.\n\n"
    )
    _print(
        f"\n  Kirim's sandbox is ready ({options.profile} profile). Open this in a browser:\n\n"
        f"      {addresses.page}\n\n"
        f"{replicas if options.replicas > 1 else ''}"
        "  Press Ctrl-C to stop. State is kept; use --fresh to start over.\n\n"
    )


def announce_settings(options: SandboxOptions, addresses: Addresses, environment: Mapping[str, str]) -> None:
    """Print the address to open, and the settings for your own bot."""
    settings = "".join(f"      {name}={value} \\\n" for name, value in environment.items())
    _print(
        f"\n  Kirim's sandbox runs without a bot ({options.profile} profile):\n\n"
        f"      {addresses.page}\n\n"
        f"  To start the bot yourself:\n\n{settings}      python -m bot run\n\n"
    )


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def forget(state: Path) -> None:
    """Remove what an earlier sandbox has saved in `state`, and nothing else."""
    postgresql.delete(state)
    for leftover in _list_saved(state):
        leftover.unlink()


def _list_saved(state: Path) -> list[Path]:
    names = ("settlement.db", "telegram.db", KEY_FILE, databases.SQLITE_FILE, databases.CURRENT, postgresql.FOLDER)
    return [path for name in names for path in state.glob(f"{name}*")]


def _move_aside(options: SandboxOptions) -> None:
    """Move what another version has saved into a folder of its own, so that the sandbox starts fresh.

    Raises:
        CantStart: the bot's data is in the user's own database.
    """
    if options.has_own_database:
        raise CantStart(
            f"The data in {options.state} is of another version of Kirim. Empty your database in DATABASE_URL and "
            "choose another folder with --state, or unset DATABASE_URL."
        )
    aside = next(each for n in count(1) if not (each := options.state / f"older-{n}").exists())
    aside.mkdir()
    for path in _list_saved(options.state):
        path.rename(aside / path.name)
    _print(f"\n  The data of another version of Kirim was moved to {aside}, and the sandbox starts fresh.\n")


@asynccontextmanager
async def _serving(config: uvicorn.Config) -> AsyncIterator[str]:
    server = wire.Server(config)
    sockets = [config.bind_socket()]
    task = asyncio.create_task(server.serve(sockets=sockets))
    try:
        while not server.started:
            if task.done():
                await task
                raise RuntimeError("a sandbox server ended before it began")
            await asyncio.sleep(0.01)
        port = sockets[0].getsockname()[1]
        yield f"http://{HOST}:{port}"
    finally:
        server.end()
        await task
