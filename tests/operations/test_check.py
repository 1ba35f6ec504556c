"""The last line of `python -m bot check` says in one sentence what to fix first."""

from collections.abc import Collection
from typing import NoReturn

import pytest

from bot.operations.check import FAILS, WORKS, Check, CheckFailed, run

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
