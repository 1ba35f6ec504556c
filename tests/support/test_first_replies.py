"""A new installation has nine saved replies in both languages, and the playbook is in both."""

import re
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from bot.core.templates import find_variables
from bot.infra.db import migrate
from bot.infra.db.database import Database
from bot.infra.telegram.ui.screen import count_visible_units
from bot.migrations import versions
from bot.support.repository import SavedReplyRepository
from bot.support.saved_replies import MAX_UNITS, OF_ORDERS, read_name, read_text
from tests.infra.keys import VAULT

FIRST_TABLES: Final = import_module(f"{versions.__name__}.{migrate.list_revisions()[0]}_first_tables")
REPLIES: Final[dict[str, dict[str, str]]] = FIRST_TABLES.REPLIES
DOCS: Final = Path(__file__).parents[2] / "docs"
NAMES: Final = (
    "bank-delay",
    "confirm-number",
    "done",
    "failed-checking",
    "not-refunded",
    "paid-expired",
    "paid-out-late",
    "payment-received",
    "refunded",
)
SAY_HOW_IT_ENDED: Final = {"refunded", "not-refunded"}
"""They are no promises: one is offered when staff have recorded that the payment was given back, or wasn't."""


async def kept(store: Database) -> dict[str, dict[str, str]]:
    async with store.reading() as tx:
        return {answer.name: dict(answer.texts) for answer in await SavedReplyRepository(tx).all()}


async def test_a_new_installation_has_them_in_both_languages(bare_database: str) -> None:
    await migrate.upgrade(bare_database)
    store = Database(bare_database, VAULT)
    assert await kept(store) == REPLIES
    assert tuple(sorted(REPLIES)) == NAMES
    await store.close()


async def test_those_that_were_deleted_do_not_come_back_at_the_next_start(bare_database: str) -> None:
    store = Database(bare_database, VAULT)
    await store.upgrade()
    async with store.transaction() as tx:
        for name in NAMES:
            assert await SavedReplyRepository(tx).delete(name)
    await store.upgrade()
    assert await kept(store) == {}
    await store.close()


@pytest.mark.parametrize("name", NAMES)
def test_each_could_have_been_typed_by_support_and_promises_no_money(name: str) -> None:
    assert read_name(name) == name
    assert set(REPLIES[name]) == {"en", "id"}, "the migration is history: a later language adds no text to it"
    used = []
    for text in REPLIES[name].values():
        assert read_text(text) == text
        assert count_visible_units(text) <= MAX_UNITS
        promised = any(word in text.lower() for word in ("refund", "money back", "pengembalian", "dikembalikan"))
        assert name in SAY_HOW_IT_ENDED or not promised
        used.append(find_variables(text))
    assert used[0] == used[1] <= OF_ORDERS


def test_the_playbook_has_the_same_cases_and_sample_replies_in_both_languages() -> None:
    english, indonesian = (
        (DOCS / name).read_text(encoding="utf-8").partition("## Playbook")[2].partition("\n## ")[0]
        for name in ("support.md", "support.id.md")
    )
    samples = re.findall("(?:^>.*\n)+", english, re.MULTILINE)
    assert re.findall("(?:^>.*\n)+", indonesian, re.MULTILINE) == samples
    assert all("\n>\n" in each for each in samples), "each is in both languages"
    cases = [len(re.findall("^### ", each, re.MULTILINE)) for each in (english, indonesian)]
    assert cases[0] == cases[1] > len(samples)
    for handbook in (english, indonesian):
        assert sorted(re.findall(r"^\|.*\| `([a-z-]+)` \|$", handbook, re.MULTILINE)) == list(NAMES)
