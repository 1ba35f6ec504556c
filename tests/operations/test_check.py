"""The last line of `python -m bot check` says in a sentence what to fix first."""

from collections.abc import Collection
from typing import NoReturn, cast

import pytest

from bot.config import Settings
from bot.operations import check as checks

CHECKS = ("database", "keys", "telegram", "service")


async def last_line(monkeypatch: pytest.MonkeyPatch, failing: Collection[str]) -> str:
    """How a check ends in which these fail."""

    async def works(_: Settings) -> str:
        return "works"

    async def fails(_: Settings) -> NoReturn:
        raise checks.CheckFailed("fails", "Mend it.")

    for name in CHECKS:
        monkeypatch.setattr(checks, f"_{name}", fails if name in failing else works)
    lines: list[str] = []
    assert await checks.run(cast("Settings", None), lines.append) == (checks.FAILS if failing else checks.WORKS)
    return lines[-1]


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ((), "Everything works."),
        (("telegram",), "1 problem. Mend it."),
        (CHECKS, "4 problems. Fix the database first. Mend it."),
        (("keys", "service"), "2 problems. Fix the keys first. Mend it."),
        (("telegram", "service"), "2 problems. Fix Telegram first. Mend it."),
    ],
)
async def test_the_last_line_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, failing: Collection[str], said: str
) -> None:
    assert await last_line(monkeypatch, failing) == said
