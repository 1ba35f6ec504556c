"""Telegram's HTML as the sandbox reads it: every tag, UTF-16 offsets, and that wrong markup is refused."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sandbox.bot_api.calls import BadRequest
from bot.sandbox.bot_api.html import formatted, plain


def read(text: str, mode: str = "HTML") -> tuple[str, list[dict[str, Any]]]:
    found = formatted(text, mode, lambda user_id: {"id": user_id} if user_id == 7 else None)
    return found.text, found.entities


def entity(kind: str, offset: int, length: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length, **more}


def test_offsets_count_utf16_units_also_within_nested_tags() -> None:
    text, entities = read("🙂<b>é🙂<i>🙂</i></b>ok")
    assert text == "🙂é🙂🙂ok"
    assert entities == [entity("bold", 2, 5), entity("italic", 5, 2)]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("é<br>", 'Unsupported start tag "br" at byte offset 2'),
        ("1 < 2", "Unclosed start tag at byte offset 2"),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("<b>x</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b", "Unclosed start tag at byte offset 0"),
        ("<b>x</b", "Unclosed start tag at byte offset 4"),
        ('<a href="x', "Unclosed start tag at byte offset 0"),
        ('<span class="red">x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("<b/>", 'Unsupported start tag "b/" at byte offset 0'),
        ("<b />x", 'Empty attribute name in the tag "b" at byte offset 0'),
        ('<tg-time unix="1" format="x">y</tg-time>', "Invalid date format used"),
    ],
)
def test_bad_markup_is_refused(text: str, refusal: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read(text)
    assert caught.value.description == f"Bad Request: can't parse entities: {refusal}"


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_escaped_text_comes_back_as_it_was(text: str) -> None:
    assert read(escape(text))[0] == plain(text).text
