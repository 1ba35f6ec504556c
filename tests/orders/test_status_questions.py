"""Messages that ask about an order are read by their words. The phrases are in `status_phrases/`."""

import tomllib
from pathlib import Path

import pytest

from bot.infra.i18n import LOCALES, find_catalogue_folder
from bot.orders.status_questions.handlers import find_invoice
from bot.orders.status_questions.reading import asks_about_order, list_mentions
from bot.orders.status_questions.vocabulary import FILE, Sense

PHRASES = Path(__file__).parent / "status_phrases"
FIRST_RATE = {"en": 31, "id": 37}
"""Of 40 messages each, how many were read as questions when they were written, before any rule knew of them."""


def _lines(name: str) -> list[str]:
    lines = (PHRASES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _all(kind: str) -> list[str]:
    return [line for locale in LOCALES for line in _lines(f"{locale}_{kind}")]


@pytest.mark.parametrize("message", _all("asks"))
def test_a_message_that_asks_about_an_order_is_recognised(message: str) -> None:
    assert asks_about_order(message)


@pytest.mark.parametrize("message", _all("other"))
def test_a_message_about_something_else_is_left_alone(message: str) -> None:
    assert not asks_about_order(message)


@pytest.mark.parametrize("locale", LOCALES)
def test_each_language_has_a_hundred_phrases_of_both_kinds(locale: str) -> None:
    for kind in ("asks", "other"):
        assert len(set(_lines(f"{locale}_{kind}"))) >= 100


@pytest.mark.parametrize("locale", LOCALES)
def test_messages_that_the_rules_never_saw_are_mostly_recognised(locale: str) -> None:
    messages = _lines(f"{locale}_held_out")
    assert len(messages) == 40
    assert sum(map(asks_about_order, messages)) >= FIRST_RATE[locale]


@pytest.mark.parametrize("locale", LOCALES)
def test_each_language_has_a_list_for_each_sense(locale: str) -> None:
    lists = tomllib.loads((find_catalogue_folder() / locale / FILE).read_text(encoding="utf-8"))
    assert set(lists["words"]) == set(Sense)
    assert all(entry == " ".join(entry.split()) for entry in lists["endings"]["endings"].split(", "))


@pytest.mark.parametrize(
    "message",
    [
        "wheree is my moneyyy",
        "Whére is my möney",
        "WHERE IS MY MONEY",
        "wheres my mooney",
        "uang ku blmmm masukkk",
        "uangnya blm masuk2",
    ],
)
def test_spelling_in_chats_makes_no_difference(message: str) -> None:
    assert asks_about_order(message)


@pytest.mark.parametrize(
    "message", ["/status", "where is my money " * 40, "https://example.org/where-is-my-money", "", "?"]
)
def test_commands_links_and_stories_are_left_alone(message: str) -> None:
    assert not asks_about_order(message)


def test_an_invoice_is_found_wherever_it_is_in_the_message() -> None:
    invoice = "lnbcrt500u1" + "q" * 200
    assert find_invoice(invoice) == invoice
    assert find_invoice(f"LIGHTNING:{invoice.upper()}") == invoice
    assert find_invoice(f"please pay {invoice}\nthanks") == invoice
    assert find_invoice(f"lightning:{invoice[:60]}") == invoice[:60]


@pytest.mark.parametrize(
    "text",
    [
        "lnurl1dp68gurn8ghj7um9wfmxjcm99e3k7mf0v9cxj0m385ekvcenxc6r2c35xvukxefcv5mkvv34x5ekzd3ev56nyd3hxqurzepexejxxepnxscrvwfnv9nxzcn9xq6xyefhvgcxxcmyxymnserxfq5fns",
        "lnbc",
        "ln bc 500",
        "500rb bca 1234567890",
    ],
)
def test_other_texts_are_no_invoices(text: str) -> None:
    assert find_invoice(text) is None


def test_a_reference_is_read_in_any_case() -> None:
    assert list_mentions("where is 7kqm2xa") == {"7KQM2XA"}
