"""The helpers of tests for texts find the right message and refuse what would prove nothing."""

import re

import pytest

from bot.infra.i18n import UnknownKey
from tests.texts import in_any_language, label, like, says, starts, text


def test_an_argument_that_is_given_must_be_there_and_one_that_is_not_may_be_anything() -> None:
    shown = text("operations.status.fine", time="10:05 WIB")
    assert says(shown, "operations.status.fine")
    assert says(shown, "operations.status.fine", time="10:05 WIB")
    assert not says(shown, "operations.status.fine", time="10:06 WIB")


def test_a_text_is_what_its_reader_sees() -> None:
    assert "<" not in text("operations.status.fine", time="10:05 WIB")
    assert text("orders.verify.fact", label="<b>", value="&").count("<b>") == 1


def test_a_plural_is_found_in_the_form_of_its_count_and_without_a_count_in_any() -> None:
    one, many = text("infra.time.seconds", count=1), text("infra.time.seconds", count=2)
    assert re.fullmatch(like("infra.time.seconds", count=2), many)
    assert not re.fullmatch(like("infra.time.seconds", count=2), one)
    assert all(re.fullmatch(like("infra.time.seconds"), each) for each in (one, many))


def test_a_message_is_found_at_the_beginning_or_anywhere_in_any_language() -> None:
    shown = f"{label('users.button.send', 'id')} …"
    assert starts(shown, "users.button.send", "id")
    assert not starts(f"… {shown}", "users.button.send", "id")
    assert re.search(in_any_language("users.button.send"), f"… {shown}")


@pytest.mark.parametrize("look_up", [text, label, like])
def test_an_unknown_key_and_an_argument_that_is_not_shown_are_refused(look_up: object) -> None:
    assert callable(look_up)
    with pytest.raises(UnknownKey):
        look_up("button.no_such_button")
    with pytest.raises(ValueError, match="amount"):
        look_up("users.button.send", amount="Rp500,000")


def test_a_pattern_that_matches_every_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"orders\.line"):
        like("orders.line")
    assert re.search(
        like("orders.line", reference="ABC2345"), text("orders.line", amount=1, destination="BCA", reference="ABC2345")
    )


def test_an_argument_can_say_what_it_must_look_like() -> None:
    clock = re.compile(r"(?P<hour>\d\d):\d\d WIB")
    shown = text("operations.status.fine", time="10:05 WIB")
    found = re.search(like("operations.status.fine", time=clock), shown)
    assert found is not None
    assert found["hour"] == "10"
    assert not says(shown, "operations.status.fine", time=re.compile(r"\d\d:\d\d WITA"))
    assert says(text("infra.time.seconds", count=12), "infra.time.seconds", count=re.compile(r"\d+"))
