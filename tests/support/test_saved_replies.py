"""Saved replies: their names, their allowed content, and what the user reads."""

from dataclasses import replace

import pytest

from bot.core import templates
from bot.core.errors import Rejection
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.reader import Reader
from bot.staff.outcomes import MONEY_OUTCOMES, Outcome
from bot.support.model import SavedReply, Ticket
from bot.support.saved_replies import ENDS, FITS, MAX_COUNT, fits, hash_text, needs_order, read_name, read_text
from bot.support.screens import saved_replies as screens
from bot.support.screens.case import format_order_state
from tests.orders.builders import an_open_order, as_sent, orders_in_each_state
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase
from tests.texts import TRANSLATIONS

EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
TICKET = Ticket(reference="T-4F7K2", user_id=1001, order_reference="ABC2345", created_at=NOW)
WIDE = "w" * 20


@pytest.mark.parametrize(
    ("typed", "name"),
    [("Bank is late", "bank-is-late"), ("  THANKS ", "thanks"), ("a__b--c", "a-b-c"), ("１2", "12"), (WIDE, WIDE)],  # noqa: RUF001
)
def test_a_name_is_short_and_fit_for_a_button(typed: str, name: str) -> None:
    assert read_name(typed) == name


@pytest.mark.parametrize("typed", ["", "a", "w" * 21, "a:b", "é-u", "T-4F7K2:x", "🙏🙏", "-", "a\nb\x00:"])
def test_what_would_break_a_button_is_no_name(typed: str) -> None:
    with pytest.raises(Rejection, match=r"support\.saved_reply\.name"):
        read_name(typed)


def test_variables_are_filled_in_the_readers_way_of_writing_with_the_recipient_masked() -> None:
    template = read_text("Your order { Reference } ({amount} → {destination}), ticket <b>{ticket}</b>.")
    assert templates.fill(template, screens.variable_values(ID, TICKET, an_open_order())) == (
        "Your order ABC2345 (Rp500.000 → BCA ••••7890), ticket <b>T-4F7K2</b>."
    )


@pytest.mark.parametrize("typed", ["{number}", "{holder}", "{name}", "{", "a } b", "{{amount}}", "{amount.x}"])
def test_there_are_no_other_variables_and_no_lone_braces(typed: str) -> None:
    with pytest.raises(Rejection, match=r"core\.template\.(unknown_variable|lone_brace)"):
        read_text(typed)


@pytest.mark.parametrize(("template", "needs"), [("{ticket} ok", False), ("{amount}", True), ("{destination}", True)])
def test_what_names_an_order_needs_one(template: str, *, needs: bool) -> None:
    assert needs_order(template) is needs


def test_what_reads_differently_has_another_hash() -> None:
    assert hash_text("Rp500,000") != hash_text("Rp500.000")
    assert hash_text("a") == hash_text("a")


@pytest.mark.parametrize("called", HOSTILE_NAMES)
@pytest.mark.parametrize("t", [EN, ID], ids=["en", "id"])
def test_every_screen_of_them_is_markup_that_telegram_takes_and_fits(t: object, called: str) -> None:
    order = replace(an_open_order(), method=replace(an_open_order().method, name=called))
    text = templates.fill(read_text("{destination} " * 5), screens.variable_values(t, TICKET, order))  # type: ignore[arg-type]
    answers = [
        SavedReply(name=f"{WIDE[:17]}-{n}", texts={"en": text}, updated_at=NOW, updated_by=1) for n in range(MAX_COUNT)
    ]
    shown = (
        screens.list_replies(t, answers),  # type: ignore[arg-type]
        screens.list_replies(t, ()),  # type: ignore[arg-type]
        screens.list_names(t, answers, "kirim_bot"),  # type: ignore[arg-type]
        screens.show_reply(t, replace(answers[0], texts={"en": "w" * 1500, "id": "w" * 1500})),  # type: ignore[arg-type]
        screens.show_reply(t, answers[0]),  # type: ignore[arg-type]
        screens.ask_to_delete(t, WIDE),  # type: ignore[arg-type]
        screens.ask_name(t),  # type: ignore[arg-type]
        screens.ask_text(t, WIDE, "en"),  # type: ignore[arg-type]
        screens.ask_which(t, TICKET, answers, "en"),  # type: ignore[arg-type]
        screens.ask_which(t, TICKET, answers, "id"),  # type: ignore[arg-type]
        screens.show_preview(Reader(t, JAKARTA, NOW), TICKET, WIDE, text, "en", order=order),  # type: ignore[arg-type]
        screens.show_queued(Reader(t, JAKARTA, NOW), TICKET, WIDE, text, 3001),  # type: ignore[arg-type]
    )
    for screen in shown:
        seen = ScreenCase("", screen)
        assert 0 < seen.units <= 4096
        assert len(seen.buttons) <= 100


@pytest.mark.parametrize("t", [EN, ID], ids=["en", "id"])
def test_a_saved_reply_that_does_not_fit_the_orders_state_warns(t: Translator) -> None:
    sent, reader = as_sent(an_open_order()), Reader(t, JAKARTA, NOW)
    now = format_order_state(reader, sent)
    assert t("orders.status.sent") in now
    warning, fine = (t(f"support.saved_reply.{key}", order=now) for key in ("does_not_fit", "state"))
    for called in ("payment-received", "failed-checking", "paid-expired"):
        assert screens.format_state(reader, called, sent) == warning
    for called in ("done", "bank-delay", "confirm-number", "our-own"):
        assert screens.format_state(reader, called, sent) == fine
    assert not screens.format_state(reader, "done", None)
    for called, style in (("payment-received", None), ("done", "primary")):
        preview = screens.show_preview(reader, TICKET, called, "Hello", "en", order=sent)
        assert preview.keyboard[0][0].style == style


def test_only_answers_in_the_users_language_are_offered() -> None:
    both = SavedReply(name="both", texts={"en": "a", "id": "b"}, updated_at=NOW, updated_by=1)
    english = replace(both, name="english", texts={"en": "a"})
    labels = [button.label for button in ScreenCase("", screens.ask_which(EN, TICKET, (both, english), "id")).buttons]
    assert labels == ["both"]


@pytest.mark.parametrize("outcome", [None, *MONEY_OUTCOMES])
def test_what_says_how_an_order_ended_fits_once_that_is_recorded_and_nothing_else_of_the_first_fits_then(
    outcome: Outcome | None,
) -> None:
    failed = replace(dict(orders_in_each_state())["failed paid"], outcome=outcome)
    fitting = [each for each in (*FITS, *ENDS.values(), "hello") if fits(each, failed, NOW)]
    assert fitting == [*(["failed-checking", "no-answer-yet"] if outcome is None else [ENDS[outcome]]), "hello"]
