"""Entries are quoted in a form that Telegram accepts, and never cut. What could be paid is masked for staff."""

import pytest

from bot.sandbox.bot_api import html
from bot.support.entries import count_excess_units, format_quote, with_quote
from bot.support.model import IncomingMessage, MediaKind
from tests.support.builders import an_entry


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It is <b>on its way</b>.", "<blockquote>It is <b>on its way</b>.</blockquote>"),
        ("<blockquote>Where?</blockquote>Here.", "<blockquote>Where?Here.</blockquote>"),
        ("<blockquote expandable>Where?</blockquote>", "<blockquote>Where?</blockquote>"),
        ("&lt;blockquote&gt;", "<blockquote>&lt;blockquote&gt;</blockquote>"),
        ("<blockquote> </blockquote>", ""),
        (None, ""),
    ],
)
def test_a_quote_holds_no_other_quote_and_an_empty_one_is_left_out(written: str | None, shown: str) -> None:
    assert format_quote(written) == shown
    html.parse(with_quote("Ours", written), lambda _: None)


@pytest.mark.parametrize(
    ("media", "length", "over"),
    [(None, 3796, 0), (None, 3797, 1), (MediaKind.PHOTO, 724, 0), (MediaKind.DOCUMENT, 1024, 300)],
)
def test_what_can_not_be_passed_on_whole_is_known_by_how_much(media: MediaKind | None, length: int, over: int) -> None:
    text = f"<b>{'x' * (length - 1)}</b>&amp;"
    assert count_excess_units(IncomingMessage(chat_id=1, message_id=1, text=text, media=media)) == over


INVOICE = "lnbc150u1p" + "qw508d6qejxtdg4y5r3zarvary0c5xw7k" * 3
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"pay {INVOICE}!", "pay lnbc…xw7k!"),
        (f"<code>{INVOICE.upper()}</code>", "<code>LNBC…XW7K</code>"),
        (f'<a href="lightning:{INVOICE}">here</a>', '<a href="lightning:lnbc…xw7k">here</a>'),
        ("lntbs10n1p" + "qw508d6qejxtdg4y5r3zarvary0c5xw7k" * 2, "lntb…xw7k"),
        ("lno1qgsqvgnwgcg35z6ee2h3yczraddm72xrfua9uve2rlrm9deu7xyfzrcgq", "lno1…rcgq"),
        ("0x52908400098527886e0f7030069857d2e4169ee7", "0x52…9ee7"),
        ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "bc1q…f3t4"),
        ("to 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "to 1BvB…NVN2"),
        ("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TR7N…Lj6t"),
        (f"<i>pay</i> <b>{INVOICE[:20]}</b>{INVOICE[20:]}", "pay lnbc…xw7k"),
        ("a@b.co, emma.k@wallet.example.", "a…@…, e…@…."),
    ],
)
def test_what_could_be_paid_is_masked_for_staff(written: str, shown: str) -> None:
    assert an_entry(text=written).masked_text == shown
    assert IncomingMessage(chat_id=1, message_id=1, text=written).has_payee


@pytest.mark.parametrize(
    "written",
    [
        f"TxID 0x{HASH}, preimage {HASH}",
        f"<b>{HASH[:32]}</b>, payout 1f86d181884c7d659a2feaa2c55ad115",
        "The order R2345AB to 1234567890 via lnbc failed @emma at 10.05",
        "https://mempool.space/tx/" + HASH,
        None,
    ],
)
def test_evidence_and_other_words_stay_as_they_are(written: str | None) -> None:
    assert an_entry(text=written).masked_text == written
    assert not IncomingMessage(chat_id=1, message_id=1, text=written).has_payee
