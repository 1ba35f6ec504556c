"""The last line of `kirim check` says in one sentence what to fix first."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, NoReturn, Self

import pytest
from pydantic import SecretStr
from telegram import User

from bot.app import create_link_limits
from bot.config import Settings
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreError
from bot.operations.check import (
    FAILS,
    WORKS,
    Check,
    CheckFailed,
    build_checks,
    check_database,
    check_keys,
    list_settings,
    run,
)
from bot.orders.limits import LinkLimits
from tests.infra.keys import ENCRYPTION_KEYS, VAULT
from tests.infra.next_version import become_the_next_version

CHECKS = ("database", "keys", "Telegram", "service")


async def last_line(failing: Collection[str]) -> str:
    """Return the last line of a check in which these fail."""

    async def works() -> str:
        return "works"

    async def fails() -> NoReturn:
        raise CheckFailed("fails", "Mend it.")

    lines: list[str] = []
    checks = [Check(name, fails if name in failing else works) for name in CHECKS]
    assert await run(checks, lines.append) == (FAILS if failing else WORKS)
    return lines[-1]


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ((), "Everything works."),
        (("Telegram",), "1 problem. Mend it."),
        (CHECKS, "4 problems. Fix the database first. Mend it."),
        (("keys", "service"), "2 problems. Fix the keys first. Mend it."),
        (("Telegram", "service"), "2 problems. Fix Telegram first. Mend it."),
    ],
)
async def test_the_last_line_is_a_sentence(failing: Collection[str], said: str) -> None:
    assert await last_line(failing) == said


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://kirim:s3cret@db.example/kirim?sslmode=require",
        "postgresql://db.example/kirim?user=kirim&password=s3cret",
        "postgresql://kirim:s3c?ret@db.example/kirim",
    ],
)
def test_the_list_of_settings_shows_no_password_of_the_database(url: str) -> None:
    settings = Settings(
        telegram_bot_token=SecretStr("123456789:AAF-secret_secret_secret_secret_secret"),
        service_api_key=SecretStr("pk_live_tenant1.s3cr3t-s3cr3t"),
        service_base_url="https://service.example",
        encryption_keys=SecretStr(ENCRYPTION_KEYS),
        database_url=url,
    )
    (line,) = (line for line in list_settings(settings) if "DATABASE_URL" in line)
    assert "s3c" not in line


async def test_older_tables_are_a_problem_and_the_command_to_run_is_named(
    bare_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = Database(bare_database, VAULT)
    await older.upgrade()
    await older.close()
    become_the_next_version(tmp_path, monkeypatch)
    with pytest.raises(CheckFailed) as caught:
        await check_database(lambda: Database(bare_database, VAULT))
    assert "kirim migrate" in caught.value.fix


class FakeBot:
    """A bot that only says who it is."""

    def __init__(self, *, supports_inline_queries: bool, has_topics_enabled: bool = False) -> None:
        self._me = User(
            1,
            "Kirim",
            is_bot=True,
            username="kirim_bot",
            supports_inline_queries=supports_inline_queries,
            has_topics_enabled=has_topics_enabled,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def get_me(self) -> User:
        return self._me


@pytest.mark.parametrize(("is_on", "said"), [(True, "inline mode is on"), (False, "/setinline")])
async def test_the_check_says_whether_botfather_has_turned_inline_mode_on(*, is_on: bool, said: str) -> None:
    bot: Any = FakeBot(supports_inline_queries=is_on)
    settings: Any = None
    (check,) = [each for each in build_checks(settings, None, lambda: bot) if each.name == "Telegram"]  # type: ignore[arg-type]
    shown = await check.run()
    assert "@kirim_bot" in shown
    assert said in shown


@pytest.mark.parametrize(
    ("changes", "said", "of_browsers"),
    [
        ({}, "TRUSTED_PROXIES isn't set", LinkLimits(from_all=6, from_one=2)),
        ({"trusted_proxies": "127.0.0.1"}, "the proxy tells addresses apart", LinkLimits(from_all=12, from_one=4)),
        ({"max_link_orders": 1, "max_link_orders_each": 0}, "half", LinkLimits(from_all=1, from_one=0)),
        ({"payment_requests": "off"}, "no pages", LinkLimits(from_all=6, from_one=2)),
        ({"public_url": ""}, "no pages", LinkLimits(from_all=6, from_one=2)),
    ],
)
async def test_the_check_says_when_browsers_get_half_of_their_orders(
    changes: dict[str, Any], said: str, of_browsers: LinkLimits
) -> None:
    known: dict[str, Any] = {
        "telegram_bot_token": "123456789:AAF-secret_secret_secret_secret_secret",
        "service_api_key": "pk_live_tenant1.s3cr3t-s3cr3t",
        "service_base_url": "https://service.example",
        "encryption_keys": ENCRYPTION_KEYS,
        "public_url": "https://pay.example",
        "http_port": 8080,
    }
    settings = Settings(**{**known, **changes})
    none: Any = None
    (check,) = [each for each in build_checks(settings, none, none) if each.name == "browsers"]
    assert said in await check.run()
    assert create_link_limits(settings).of_browsers == of_browsers


async def test_keys_that_cannot_be_checked_are_a_problem_with_its_cause(
    bare_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: Database) -> NoReturn:
        raise StoreError("the connection was lost")

    database = Database(bare_database, VAULT)
    await database.upgrade()
    await database.close()
    monkeypatch.setattr(Database, "check_keys", fail)
    checks = [
        Check("database", lambda: check_database(lambda: Database(bare_database, VAULT))),
        Check("keys", lambda: check_keys(lambda: Database(bare_database, VAULT))),
    ]
    lines: list[str] = []
    assert await run(checks, lines.append) == FAILS
    assert "FAILS keys: not checked: the connection was lost" in lines[1]
    assert lines[-1] == "1 problem. Check DATABASE_URL and the database."
