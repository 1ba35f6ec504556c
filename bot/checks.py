"""`python -m bot check`: says of every setting, the database, Telegram and the service whether it works."""

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import SecretStr
from telegram.error import InvalidToken, TelegramError

from bot.config import Settings
from bot.house import store_of, telegram_application
from bot.settlement.client import SettlementClient
from bot.settlement.errors import KeyRefused, SettlementError
from bot.store import NoKeys, SqlStore, StoreError, UnfitKeys

WORKS, FAILS, BAD_SETTINGS = 0, 1, 2
WITHIN = 20.0
Say = Callable[[str], object]


async def run(settings: Settings, say: Say) -> int:
    """Say it all, line by line; the exit code. Changes nothing anywhere."""
    for name in type(settings).model_fields:
        say(f"  set   {name.upper()} = {_shown(settings, name)}")
    checks: list[tuple[str, Callable[[Settings], Awaitable[str]]]] = [
        ("database", _database),
        ("keys", _keys),
        ("Telegram", _telegram),
        ("service", _service),
    ]
    results = [await _outcome(check(settings)) for _, check in checks]
    for (name, _), (code, words) in zip(checks, results, strict=True):
        say(f"  {'FAILS' if code else 'ok   '} {name}: {words}")
    return max(code for code, _ in results)


def _shown(settings: Settings, name: str) -> str:
    value = getattr(settings, name)
    if name == "service_api_key":
        return f"{settings.key_id}.…"
    if isinstance(value, SecretStr):
        return "…"
    if name == "database_url" and "@" in value:
        # The user and the password are nobody's business here.
        return f"{value.partition('://')[0]}://…@{value.rpartition('@')[2]}"
    return ",".join(map(str, sorted(value))) if isinstance(value, frozenset) else str(value)


async def _outcome(check: Awaitable[str]) -> tuple[int, str]:
    try:
        async with asyncio.timeout(WITHIN):
            return WORKS, await check
    except CheckFailed as failure:
        return failure.code, str(failure)
    except TimeoutError:
        return FAILS, f"no answer within {WITHIN:.0f} seconds"


class CheckFailed(Exception):
    """What doesn't work, in words for whoever runs the bot. `code` is what it makes of the exit code."""

    def __init__(self, words: str, code: int = FAILS) -> None:
        super().__init__(words)
        self.code = code


async def _database(settings: Settings) -> str:
    store = store_of(settings)
    try:
        return f"at revision {await store.check()}"
    except StoreError as error:
        raise CheckFailed(f"{error} (python -m bot migrate brings it up to date)") from None
    finally:
        await store.close()


async def _keys(settings: Settings) -> str:
    store = store_of(settings)
    try:
        return await _sealed(store)
    except (NoKeys, UnfitKeys) as error:
        raise CheckFailed(f"ENCRYPTION_KEYS don't fit the database: {error}", BAD_SETTINGS) from None
    except StoreError as error:
        raise CheckFailed(f"nothing can be said before the database works ({error})") from None
    finally:
        await store.close()


async def _sealed(store: SqlStore) -> str:
    await store.check()
    await store.check_keys()
    standings = (await store.sealed()).values()
    sealed, waiting = sum(each.sealed for each in standings), sum(each.waiting for each in standings)
    if not waiting:
        return f"the first opens all {sealed:,} sealed rows"
    return f"{waiting:,} of {sealed:,} sealed rows ({waiting / sealed:.0%}) wait for python -m bot rotate-keys"


async def _telegram(settings: Settings) -> str:
    bot = telegram_application(settings).bot
    try:
        async with bot:
            me = await bot.get_me()
            return f"this is @{me.username}"
    except InvalidToken:
        raise CheckFailed("the token is refused") from None
    except TelegramError as error:
        raise CheckFailed(f"not reached ({type(error).__name__})") from None


async def _service(settings: Settings) -> str:
    key = settings.service_api_key.get_secret_value()
    async with SettlementClient(settings.service_base_url, key) as client:
        try:
            methods = await client.payout_methods()
        except KeyRefused:
            raise CheckFailed(f"the key {settings.key_id} is refused") from None
        except SettlementError as error:
            raise CheckFailed(f"not reached ({error})") from None
        return f"takes the key, and lists {len(methods.methods)} payout methods"
