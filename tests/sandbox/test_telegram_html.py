"""Telegram's HTML as the sandbox reads it: every tag, UTF-16 offsets, and that wrong markup is refused."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sandbox.bot_api.calls import BadRequest
from bot.sandbox.bot_api.html import formatted, plain, utf16_length


def read(text: str, mode: str = "HTML") -> tuple[str, list[dict[str, Any]]]:
    found = formatted(text, mode, lambda user_id: {"id": user_id} if user_id == 7 else None)
    return found.text, found.entities


def entity(kind: str, offset: int, length: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length, **more}


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        (("b", "strong"), "bold"),
        (("i", "em"), "italic"),
        (("u", "ins"), "underline"),
        (("s", "strike", "del"), "strikethrough"),
        (("tg-spoiler", 'span class="tg-spoiler"'), "spoiler"),
        (("code",), "code"),
        (("pre",), "pre"),
        (("blockquote",), "blockquote"),
        (("blockquote expandable", 'blockquote expandable=""'), "expandable_blockquote"),
    ],
)
def test_every_simple_tag_becomes_its_entity(tags: tuple[str, ...], kind: str) -> None:
    for tag in tags:
        name = tag.partition(" ")[0]
        assert read(f"a <{tag}>xyz</{name}>") == ("a xyz", [entity(kind, 2, 3)])


def test_tags_are_read_in_any_case_and_may_be_closed_by_an_empty_end_tag() -> None:
    assert read("<B>x</b><I>y</>") == ("xy", [entity("bold", 0, 1), entity("italic", 1, 1)])


def test_offsets_count_utf16_units_also_within_nested_tags() -> None:
    text, entities = read("🙂<b>é🙂<i>🙂</i></b>ok")
    assert text == "🙂é🙂🙂ok"
    assert entities == [entity("bold", 2, 5), entity("italic", 5, 2)]


def test_links_get_the_form_telegram_gives_them() -> None:
    assert read('<a href="HTTPS://Example.com">x</a>')[1] == [entity("text_link", 0, 1, url="https://example.com/")]
    assert read("<a>example.com/x</a>")[1] == [entity("text_link", 0, 13, url="http://example.com/x")]
    assert read('<a href="tg://user?id=7">me</a>')[1] == [entity("text_mention", 0, 2, user={"id": 7})]
    assert read('<a href="tg://user?id=8">me</a>')[1] == []
    assert read('<a href="lightning:lnbc1">x</a>')[1] == []


def test_code_has_a_language_only_as_a_block() -> None:
    block = '<pre><code class="language-python">x</code></pre>'
    assert read(block)[1] == [entity("pre", 0, 1, language="python")]
    assert read('<code class="language-python">x</code>')[1] == [entity("code", 0, 1)]


def test_moments_and_custom_emoji_carry_their_details() -> None:
    moment = '<tg-time unix="1772366400" format="wDT">soon</tg-time>'
    assert read(moment)[1] == [entity("date_time", 0, 4, unix_time=1772366400, date_time_format="wDT")]
    assert read('<tg-emoji emoji-id="5">👍</tg-emoji>')[1] == [entity("custom_emoji", 0, 2, custom_emoji_id="5")]


def test_only_four_names_and_numbers_are_character_references() -> None:
    assert read("&lt;&gt;&amp;&quot;&#39;&#x1F642;&nbsp;&")[0] == "<>&\"'🙂&nbsp;&"
    assert read("AT&T &amp & co")[0] == "AT&T & & co"


def test_nothing_applies_within_code_but_a_quotation_around_it() -> None:
    text = "<blockquote><code>/start <b>x</b> +62 812 3456 789</code></blockquote>"
    assert [each["type"] for each in read(text)[1]] == ["blockquote", "code"]


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


def test_other_parse_modes_are_refused() -> None:
    with pytest.raises(BadRequest, match="unsupported parse_mode"):
        read("x", "BBCode")
    with pytest.raises(BadRequest, match="HTML"):
        read("*x*", "MarkdownV2")


def test_space_around_a_text_is_dropped_and_entities_move_along() -> None:
    assert read(" \n x <b>y </b>\n") == ("x y", [entity("bold", 2, 1)])
    assert read("<b>  y</b> ") == ("  y", [entity("bold", 0, 3)])


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("/send 500rb bca", ["bot_command"]),
        ("/start@kirim_sandbox_bot", ["bot_command"]),
        ("a/b 1/2 //x", []),
        ("to @sari_bca or a@b.co", ["mention", "email"]),
        ("see https://x.co/a?b=1. And bca.co.id!", ["url", "url"]),
        ("Rp 1.500.000,00 or 0.0005", []),
        ("#rupiah #1", ["hashtag"]),
        ("call +62 812-3456-789", ["phone_number"]),
        ("0812 3456 789", []),
    ],
)
def test_what_people_type_is_searched_for_entities(text: str, kinds: list[str]) -> None:
    assert [each["type"] for each in plain(text).entities] == kinds


def test_a_full_stop_after_an_address_is_not_part_of_it() -> None:
    assert plain("🙂 https://x.co/a.").entities == [entity("url", 3, 14)]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_escaped_text_comes_back_as_it_was(text: str) -> None:
    assert read(escape(text))[0] == plain(text).text


@given(st.lists(st.tuples(st.sampled_from("biu"), st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"])))))
def test_entities_never_leave_the_text(parts: list[tuple[str, str]]) -> None:
    text, entities = read("".join(f"<{tag}>{escape(words)}</{tag}>" for tag, words in parts))
    assert all(0 <= each["offset"] < each["offset"] + each["length"] <= utf16_length(text) for each in entities)


@given(st.text())
def test_no_text_whatever_breaks_the_reader(text: str) -> None:
    with suppress(BadRequest):
        read(text)
