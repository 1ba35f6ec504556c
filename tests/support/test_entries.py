"""Entries are quoted in a form that Telegram accepts, and never cut."""

import pytest

from bot.sandbox.bot_api import html
from bot.support.entries import count_excess_units, format_quote, with_quote
from bot.support.model import IncomingMessage, MediaKind


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
