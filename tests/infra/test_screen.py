"""Screens, their buttons, and texts that are too long."""

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.infra.telegram.outbound.sender import render_keyboard
from bot.infra.telegram.ui.screen import Button, truncate_html


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"data": "a", "url": "https://example.org"},
        {"data": ""},
        {"data": "ä" * 33},
        {"copy": ""},
        {"copy": "x" * 257},
        {"url": "ftp://example.org"},
        {"url": "lightning:lnbc1"},
    ],
)
def test_a_button_that_telegram_would_refuse_cannot_be_made(fields: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"button|data|copy"):
        Button("Label", **fields)  # type: ignore[arg-type]


def test_a_keyboard_becomes_telegrams_and_an_empty_one_none() -> None:
    markup = render_keyboard(
        ((Button("a", data="1", style="danger"), Button("b", copy="2")), (Button("c", url="tg://x"),))
    )
    assert markup is not None
    assert markup.to_dict() == {
        "inline_keyboard": [
            [
                {"text": "a", "callback_data": "1", "style": "danger"},
                {"text": "b", "copy_text": {"text": "2"}},
            ],
            [{"text": "c", "url": "tg://x"}],
        ]
    }
    assert render_keyboard(()) is None


PIECES = st.one_of(
    st.text(max_size=8).map(escape),
    st.tuples(st.sampled_from(["b", "code", "blockquote", 'a href="https://x"']), st.text(max_size=8).map(escape)).map(
        lambda pair: f"<{pair[0]}>{pair[1]}</{pair[0].split()[0]}>"
    ),
)


@given(st.lists(PIECES, max_size=12).map("".join), st.integers(2, 40))
def test_whatever_is_cut_fits_and_keeps_its_tags_in_pairs(html: str, limit: int) -> None:
    cut = truncate_html(html, limit)
    visible = cut
    for tag in ("<b>", "</b>", "<code>", "</code>", "<blockquote>", "</blockquote>", '<a href="https://x">', "</a>"):
        visible = visible.replace(tag, "")
    for reference in ("&lt;", "&gt;", "&quot;", "&#x27;", "&amp;"):
        visible = visible.replace(reference, "x")
    assert "<" not in visible
    assert len(visible.encode("utf-16-le", "surrogatepass")) // 2 <= limit
    assert all(cut.count(f"<{tag}") == cut.count(f"</{tag}") for tag in ("b>", "code", "blockquote"))
