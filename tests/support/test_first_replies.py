"""A new installation has two saved replies for each state of an order in both languages. The playbook is in both."""

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from bot.core.templates import find_variables
from bot.infra.db import migrate
from bot.infra.db.database import Database
from bot.infra.telegram.ui.screen import count_visible_units
from bot.migrations import versions
from bot.orders.order import OrderStatus
from bot.staff.outcomes import Outcome
from bot.support.model import SavedReply
from bot.support.repository import SavedReplyRepository
from bot.support.saved_replies import ENDS, FITS, MAX_UNITS, OF_ORDERS, SUGGESTED, read_name, read_text, suggest
from tests.infra.keys import VAULT
from tests.orders.builders import orders_in_each_state
from tests.times import NOW

FIRST_TABLES: Final = import_module(f"{versions.__name__}.{migrate.list_revisions()[0]}_first_tables")
REPLIES: Final[dict[str, dict[str, str]]] = FIRST_TABLES.REPLIES
DOCS: Final = Path(__file__).parents[2] / "docs"
NAMES: Final = tuple(sorted({*FITS, *ENDS.values(), "confirm-number"}))
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
        rows = re.findall(r"^\|[^|]*\|((?: `[a-z-]+`,?)+) \|$", handbook, re.MULTILINE)
        assert sorted({name for row in rows for name in re.findall("[a-z-]+", row)}) == list(NAMES)


@pytest.mark.parametrize("locale", ["en", "id"])
@pytest.mark.parametrize("state", [*dict(orders_in_each_state()), None])
def test_two_are_written_for_each_state_and_say_nothing_that_only_staff_know(state: str | None, locale: str) -> None:
    first = [SavedReply(name=name, texts=texts, updated_at=NOW, updated_by=0) for name, texts in REPLIES.items()]
    own = SavedReply(name="a-own", texts={"en": "Hello", "id": "Halo"}, updated_at=NOW, updated_by=3001)
    order = dict(orders_in_each_state())[state] if state else None
    found = [each.name for each in suggest([own, *first], locale, order, NOW)]
    assert len(found) == SUGGESTED
    assert {*FITS}.issuperset(found)
    assert set(ENDS.values()).isdisjoint(found)
    assert [each.name for each in suggest([own, first[0]], locale, None, NOW)] == ["a-own"], "the other needs an order"
    if order is not None:
        ended = replace(order, outcome=Outcome.REFUNDED)
        assert suggest(first, locale, ended, NOW)[0].name == "refunded"


def test_each_state_of_an_order_has_two() -> None:
    for status in OrderStatus:
        assert sum(status in states for states in FITS.values()) == SUGGESTED
