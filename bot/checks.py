"""`python -m bot check`: says of every setting, the database, Telegram and the service whether it works."""

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import SecretStr
from telegram.error import InvalidToken, TelegramError

from bot.app import store_of, telegram_application
from bot.config import Settings
from bot.settlement.client import SettlementClient
from bot.settlement.errors import KeyRefused, SettlementError
from bot.store.errors import StoreError

WITHIN = 20.0
Say = Callable[[str], object]


async def run(settings: Settings, say: Say) -> bool:
    """Say it all, line by line; whether everything works. Changes nothing anywhere."""
    for name in type(settings).model_fields:
        say(f"  set   {name.upper()} = {_shown(settings, name)}")
    checks: list[tuple[str, Callable[[Settings], Awaitable[str]]]] = [
        ("database", _database),
        ("Telegram", _telegram),
        ("service", _service),
    ]
    results = [await _outcome(check(settings)) for _, check in checks]
    for (name, _), (works, words) in zip(checks, results, strict=True):
        say(f"  {'ok   ' if works else 'FAILS'} {name}: {words}")
    return all(works for works, _ in results)


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


async def _outcome(check: Awaitable[str]) -> tuple[bool, str]:
    try:
        async with asyncio.timeout(WITHIN):
            return True, await check
    except CheckFailed as failure:
        return False, str(failure)
    except TimeoutError:
        return False, f"no answer within {WITHIN:.0f} seconds"


class CheckFailed(Exception):
    """What doesn't work, in words for whoever runs the bot."""


async def _database(settings: Settings) -> str:
    store = store_of(settings)
    try:
        return f"at revision {await store.check()}"
    except StoreError as error:
        raise CheckFailed(f"{error} (python -m bot migrate brings it up to date)") from None
    finally:
        await store.close()


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
