"""Screens, their buttons, and texts that are too long."""

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

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


def test_a_button_needs_a_label() -> None:
    with pytest.raises(ValueError, match="label"):
        Button("", data="x")


def test_the_largest_buttons_fit() -> None:
    Button("a", data="ä" * 32)
    Button("a", copy="x" * 256)
    Button("a", url="tg://user?id=1")


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


def test_a_text_that_fits_is_left_alone() -> None:
    assert truncate_html("<b>x</b>" * 4096) == "<b>x</b>" * 4096, "tags don't count"
    assert truncate_html("&amp;" * 4096) == "&amp;" * 4096, "a reference counts for one"


def test_a_cut_text_closes_what_is_open() -> None:
    with capture_logs() as logs:
        assert truncate_html("<b>one <i>two three</i></b>", 6) == "<b>one <i>t…</i></b>"
    assert [line["event"] for line in logs] == ["message_truncated"]


def test_a_cut_never_splits_a_pair_of_surrogates() -> None:
    assert truncate_html("😀" * 4, 6) == "😀😀…"


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
