"""Templates keep their formatting and accept only known variables. Old and changed quotes get warnings."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.broadcasts.model import (
    VARIABLES,
    BroadcastWarning,
    find_warnings,
    has_variables,
    read_template,
)
from bot.core.errors import Rejection
from bot.core.templates import fill
from bot.sandbox.bot_api import html
from bot.settlement.model import QUOTE_STALE_AFTER, Quote

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
VALUES = dict.fromkeys(VARIABLES, "<b>1</b>")


def quote(rate: int, fetched_at: datetime = NOW) -> Quote:
    return Quote(Decimal(rate), fetched_at)


@pytest.mark.parametrize(
    "written",
    [
        "<b>Rate</b>: {rate}",
        '<a href="https://kirim.example/?a=1&amp;b=2">{usdc}</a>',
        "<blockquote expandable>a\nb</blockquote>",
        '<pre><code class="language-python">x &lt; y</code></pre>',
        '<span class="tg-spoiler">s</span> <u><i>{time}</i></u> <s>x</s>',
        '<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>',
        '<tg-time unix="1" format="t">x</tg-time>',
        "tom & jerry &lt;3".replace("&", "&amp;", 1),
    ],
)
def test_formatting_is_kept_as_it_is(written: str) -> None:
    assert read_template(written) == written


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("{sats_1m} sats", "62,264 sats"),
        ("<b>{sats_1m}</b> Sats now", "<b>62,264 sats</b> now"),
        ("Fee: Rp{fee}", "Fee: Rp5,000"),
        ("Rp <b>{fee}</b>.", "<b>Rp5,000</b>."),
        ("{sats_1m} satsuma", "62,264 sats satsuma"),
        ("Rp {sats_1m}", "Rp 62,264 sats"),
        ("{fee} sats", "Rp5,000 sats"),
        ("Rp100,000 = {sats_1m}, sats", "Rp100,000 = 62,264 sats, sats"),
    ],
)
def test_a_unit_that_staff_type_beside_a_variable_is_not_shown_twice(typed: str, shown: str) -> None:
    assert fill(read_template(typed), {"sats_1m": "62,264 sats", "fee": "Rp5,000"}) == shown


@pytest.mark.parametrize("name", ["rates", "", "rate!", "rate}{", "0", "{rate", "\u202erate"])
def test_an_unknown_variable_is_refused_with_the_list_of_known_ones(name: str) -> None:
    with pytest.raises(Rejection) as caught:
        read_template(f"now {{{name}}}")
    assert caught.value.key in {"core.template.unknown_variable", "core.template.lone_brace"}
    assert caught.value.arguments["known"] == ", ".join(f"{{{each}}}" for each in VARIABLES)


@pytest.mark.parametrize(
    "text", ["<h1>a</h1>", "<b>a", "a</b>", "<b><i>a</b></i>", "<script>x</script>", "<!-- x -->a"]
)
def test_markup_that_telegram_has_not_is_refused(text: str) -> None:
    with pytest.raises(Rejection, match=r"core\.template\.markup"):
        read_template(text)


def test_an_address_can_bring_no_attribute_and_no_variable_along() -> None:
    read = read_template('<a href="https://x.example/{rate}" onclick="y">a</a>')
    assert read == '<a href="https://x.example/%7Brate%7D">a</a>'
    assert not has_variables(read)


@given(st.text(max_size=200))
def test_whatever_is_typed_without_braces_arrives_as_it_was_typed(text: str) -> None:
    from html import escape  # noqa: PLC0415  beside the sandbox's module of that name

    try:
        read = read_template(escape(text))
    except Rejection:
        return
    assert (
        html.parse(fill(read, VALUES), lambda _: None)[0].strip() == html.parse(escape(text), lambda _: None)[0].strip()
    )


def test_a_quote_gets_warnings_when_it_is_old_or_has_jumped_either_way() -> None:
    last = quote(100_000)
    assert find_warnings(quote(102_000), last, NOW, Decimal(2)) == ()
    assert find_warnings(quote(102_001), last, NOW, Decimal(2)) == (BroadcastWarning.JUMPED,)
    assert find_warnings(quote(97_999), last, NOW, Decimal(2)) == (BroadcastWarning.JUMPED,)
    assert find_warnings(quote(1), None, NOW, Decimal(2)) == ()
    old = quote(1, NOW - QUOTE_STALE_AFTER - timedelta(seconds=1))
    assert find_warnings(old, last, NOW, Decimal(2)) == (BroadcastWarning.STALE, BroadcastWarning.JUMPED)


def test_filling_replaces_every_variable_and_nothing_else() -> None:
    template = read_template("<i>{rate}</i> {rate} {fee} 100%")
    assert fill(template, VALUES) == "<i><b>1</b></i> <b>1</b> <b>1</b> 100%"
    assert has_variables(template)
    assert not has_variables(read_template("no figures"))
