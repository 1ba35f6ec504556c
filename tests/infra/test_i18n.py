"""Sentences from the catalogues: escaping, arguments, plurals, and missing sentences."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from bot.infra.i18n import (
    Catalogue,
    Html,
    MissingArgument,
    Translations,
)

ENGLISH = Catalogue(
    "en",
    {
        "greeting": ("Hello, <b>{name}</b>!",),
        "sum": ("{amount:rupiah} or {sats:sats}, {count} left, {share:percent}",),
        "orders": ("{count} order", "{count} orders of {name}"),
        "only.english": ("Only here",),
    },
    "(n != 1)",
)
INDONESIAN = Catalogue(
    "id",
    {
        "greeting": ("Halo, <b>{name}</b>!",),
        "sum": ("{amount:rupiah} atau {sats:sats}, sisa {count}, {share:percent}",),
        "orders": ("{count} pesanan {name}",),
    },
    "0",
)
CATALOGUES = {"en": ENGLISH, "id": INDONESIAN}
STRICT = Translations(CATALOGUES, strict=True)
LENIENT = Translations(CATALOGUES)


def test_a_sentence_comes_in_its_readers_language() -> None:
    assert STRICT.get("en")("greeting", name="Emma") == "Hello, <b>Emma</b>!"
    assert STRICT.get("id")("greeting", name="Sari") == "Halo, <b>Sari</b>!"


@given(st.text())
def test_no_text_from_outside_becomes_markup(name: str) -> None:
    inside = STRICT.get("en")("greeting", name=name).removeprefix("Hello, <b>").removesuffix("</b>!")
    assert not set(inside) & set("<>\"'")


def test_markup_is_kept_where_it_says_that_it_is_markup() -> None:
    t = STRICT.get("en")
    assert t("greeting", name=Html("<i>Emma</i>")) == "Hello, <b><i>Emma</i></b>!"
    assert t("greeting", name=t("only.english")) == "Hello, <b>Only here</b>!"
    assert t("greeting", name=t("greeting", name="<")) == "Hello, <b>Hello, <b>&lt;</b>!</b>!"


def test_plain_text_for_buttons_is_not_escaped() -> None:
    assert STRICT.get("en").plain("greeting", name="A & B") == "Hello, <b>A & B</b>!"


def test_numbers_are_written_as_their_reader_writes_them() -> None:
    arguments = {"amount": 1_500_000, "sats": 29_412, "count": 1234, "share": Decimal("1.5")}
    assert STRICT.get("en")("sum", **arguments) == "Rp1,500,000 or 29,412 sats, 1,234 left, 1.5%"
    assert STRICT.get("id")("sum", **arguments) == "Rp1.500.000 atau 29.412 sats, sisa 1.234, 1,5%"


def test_each_language_has_its_own_plurals() -> None:
    english, indonesian = STRICT.get("en"), STRICT.get("id")
    assert [english.plural("orders", count, name="Emma") for count in (1, 2)] == ["1 order", "2 orders of Emma"]
    assert [english.plural("orders", count, name="Emma") for count in (0, 1000)] == [
        "0 orders of Emma",
        "1,000 orders of Emma",
    ]
    assert [indonesian.plural("orders", count, name="Sari") for count in (1, 2)] == ["1 pesanan Sari", "2 pesanan Sari"]


def test_an_unknown_key_is_logged_and_read_in_english_by_people() -> None:
    with capture_logs() as logs:
        assert LENIENT.get("id")("only.english") == "Only here"
        assert LENIENT.get("id")("nowhere.at_all") == "nowhere.at_all"
    assert [entry["event"] for entry in logs] == ["translation_failed"] * 2


def test_a_missing_argument_is_an_error_in_tests_and_a_gap_for_people() -> None:
    with pytest.raises(MissingArgument, match="greeting needs name"):
        STRICT.get("en")("greeting")
    with capture_logs() as logs:
        assert LENIENT.get("en")("greeting") == "Hello, <b>…</b>!"
    assert logs == [{"event": "translation_failed", "fault": "greeting needs name", "log_level": "error"}]
