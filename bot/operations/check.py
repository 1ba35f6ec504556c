"""`kirim check`: check the database, the keys, Telegram and the service, and say what to fix first."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import SecretStr
from telegram import Bot
from telegram.error import InvalidToken, TelegramError

from bot.config import Settings, find_unknown_names
from bot.core.reasons import network_reason
from bot.infra.db.address import parse_database_url
from bot.infra.db.database import Database
from bot.infra.db.errors import SchemaMismatch, StoreError, UnusableUrl
from bot.infra.db.vault import MissingKey, NoKeys
from bot.settlement.client import SettlementClient
from bot.settlement.errors import KeyRefused, SettlementFailure

WORKS, FAILS, BAD_SETTINGS = 0, 1, 2
TIMEOUT_SECONDS = 20.0
PrintLine = Callable[[str], object]


class CheckFailed(Exception):
    """A check failed. `fix` says what to do about it, and `code` is the exit code."""

    def __init__(self, text: str, fix: str, code: int = FAILS) -> None:
        super().__init__(text)
        self.fix = fix
        self.code = code


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check. `fix` is empty unless the check failed."""

    mark: str
    text: str
    fix: str = ""
    code: int = WORKS


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `run` returns a text about what works, or raises `CheckFailed`."""

    name: str
    run: Callable[[], Awaitable[str]]


def build_checks(
    settings: Settings, open_database: Callable[[], Database], open_bot: Callable[[], Bot]
) -> tuple[Check, ...]:
    """Return the checks of these settings, the most important first.

    `open_bot` raises an error of python-telegram-bot if the token can't be valid.
    """
    return (
        Check("database", partial(check_database, open_database)),
        Check("keys", partial(check_keys, open_database)),
        Check("Telegram", partial(_check_telegram, settings, open_bot)),
        Check("service", partial(_check_service, settings)),
        Check("settings", check_names),
        Check("browsers", partial(_check_browsers, settings)),
    )


async def run(checks: Sequence[Check], print_line: PrintLine, settings: Sequence[str] = ()) -> int:
    """Print a line for each check, the `settings`, and a last line with what to fix first.

    Return the exit code. Nothing is changed.
    """
    results = [await _run_check(check.run()) for check in checks]
    for check, result in zip(checks, results, strict=True):
        print_line(f"  {result.mark:5} {check.name}: {result.text}")
    for line in settings:
        print_line(line)
    print_line(_conclude({check.name: result.fix for check, result in zip(checks, results, strict=True) if result.fix}))
    return max(result.code for result in results)


def list_settings(settings: Settings) -> tuple[str, ...]:
    """Return a line for each setting, without secrets."""
    return tuple(f"  set   {name.upper()} = {_format_setting(settings, name)}" for name in type(settings).model_fields)


def _conclude(fixes: Mapping[str, str]) -> str:
    if not fixes:
        return "Everything works."
    name, fix = next(iter(fixes.items()))
    if len(fixes) == 1:
        return f"1 problem. {fix}"
    # Only Telegram is a proper name.
    first = name if name == "Telegram" else f"the {name}"
    return f"{len(fixes)} problems. Fix {first} first. {fix}"


def _format_setting(settings: Settings, name: str) -> str:
    value = getattr(settings, name)
    if name == "service_api_key":
        return f"{settings.key_id}.…"
    if isinstance(value, SecretStr):
        return "…"
    if name == "database_url" and not value.startswith("sqlite:"):
        # The user and the password are secret. Both can also stand behind the question mark.
        try:
            url = parse_database_url(value).url
        except UnusableUrl:
            return "…"
        return f"postgresql://…@{url.host or url.query.get('host', '')}/{url.database}"
    return ",".join(map(str, sorted(value))) if isinstance(value, frozenset | tuple) else str(value)


async def _run_check(check: Awaitable[str]) -> CheckResult:
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return CheckResult("ok", await check)
    except CheckFailed as failure:
        return CheckResult("FAILS", str(failure), failure.fix, failure.code)
    except TimeoutError:
        return CheckResult(
            "FAILS", f"no answer within {TIMEOUT_SECONDS:.0f} seconds", "Check the network, then try again.", FAILS
        )


async def check_database(open_database: Callable[[], Database]) -> str:
    """Check that the database can be used, and is empty or has the tables of this version.

    Raises:
        CheckFailed: it can't be used, or has other tables.
    """
    database = open_database()
    try:
        await database.check_server()
        return f"schema {await database.check()}"
    except SchemaMismatch as error:
        if error.found is None:
            return "empty. The bot creates its tables at its first start"
        raise CheckFailed(str(error), error.fix) from None
    except StoreError as error:
        raise CheckFailed(str(error), "Check DATABASE_URL and the database.") from None
    finally:
        await database.close()


async def check_keys(open_database: Callable[[], Database]) -> str:
    """Check that `ENCRYPTION_KEYS` decrypt every encrypted row. A database without tables has none.

    Raises:
        CheckFailed: a key is missing, or the database can't be used.
    """
    database = open_database()
    try:
        return await _describe_encryption(database)
    except (NoKeys, MissingKey) as error:
        fix = "Add the missing key at the end of ENCRYPTION_KEYS."
        raise CheckFailed(f"ENCRYPTION_KEYS don't match the database: {error}", fix, BAD_SETTINGS) from None
    except StoreError as error:
        if isinstance(error, SchemaMismatch) and error.found is None:
            return "they can be used. Nothing is encrypted yet"
        raise CheckFailed(f"not checked: {error}", "Check DATABASE_URL and the database.") from None
    finally:
        await database.close()


async def _describe_encryption(database: Database) -> str:
    await database.check()
    await database.check_keys()
    tables = (await database.count_sealed_rows()).values()
    encrypted, older = sum(each.sealed for each in tables), sum(each.waiting for each in tables)
    if not older:
        return f"all {encrypted:,} encrypted rows use the first key"
    share = older / encrypted
    return f"{older:,} of {encrypted:,} encrypted rows ({share:.0%}) use an older key. Run: kirim rotate-keys"


async def _check_telegram(settings: Settings, open_bot: Callable[[], Bot]) -> str:
    bot = open_bot()
    try:
        async with bot:
            me = await bot.get_me()
            inline = "on" if me.supports_inline_queries else "off. Turn it on with /setinline at @BotFather"
            topics = ". Threaded mode is on: turn it off at @BotFather, or users get answers outside of their topics"
            return f"the bot is @{me.username}, and inline mode is {inline}{topics if me.has_topics_enabled else ''}"
    except InvalidToken:
        fix = "Copy TELEGRAM_BOT_TOKEN from @BotFather again."
        raise CheckFailed("the token is rejected by Telegram", fix) from None
    except TelegramError as error:
        problem = f"can't connect to {settings.telegram_api_url}{_describe_reason(error)}"
        raise CheckFailed(problem, "Check TELEGRAM_API_URL and the network.") from None


async def _check_service(settings: Settings) -> str:
    key = settings.service_api_key.get_secret_value()
    async with SettlementClient(settings.service_base_url, key) as client:
        try:
            methods = await client.payout_methods()
        except KeyRefused:
            fix = "Check SERVICE_API_KEY, or ask the service for a new key."
            raise CheckFailed(f"the key {settings.key_id} is rejected", fix) from None
        except SettlementFailure as error:
            url = settings.service_base_url
            if error.status is not None:
                problem = f"unexpected answer from {url} (status {error.status})"
                raise CheckFailed(problem, "Check SERVICE_BASE_URL. If it is right, try again later.") from None
            problem = f"can't connect to {url}{_describe_reason(error)}"
            raise CheckFailed(problem, "Check SERVICE_BASE_URL and the network.") from None
        return f"key accepted, {len(methods)} payout methods"


async def _check_browsers(settings: Settings) -> str:
    if not settings.public_url or settings.payment_requests == "off":
        return "payment requests have no pages there"
    if settings.trusted_proxies:
        return "the proxy tells addresses apart, so three orders in 100 seconds come from neighbours"
    return "TRUSTED_PROXIES isn't set. Nobody tells browsers apart, so they get half of their orders"


async def check_names() -> str:
    """Check that no setting has a name that nobody knows.

    Raises:
        CheckFailed: some have.
    """
    unknown = find_unknown_names(Settings)
    if unknown:
        problem = f"no setting has these names: {', '.join(unknown)} (environment, .env or files with secrets)"
        raise CheckFailed(problem, "Correct these names, or remove them.")
    return "every name is known"


def _describe_reason(error: Exception) -> str:
    reason = network_reason(error)
    return f": {reason}" if reason else ""
