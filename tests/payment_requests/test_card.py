"""The card of a request: whole in every chat, and readable in both languages."""

import io
from dataclasses import replace

import pytest
from PIL import Image

from bot.infra.i18n import LOCALES
from bot.payment_requests import screens
from bot.payment_requests.card_drawing import draw_card, draw_for_print
from bot.payment_requests.model import MAX_NOTE_LENGTH, make_link
from tests.payment_requests.builders import a_request
from tests.pictures import qr_texts
from tests.texts import TRANSLATIONS, label

BOT = "kirim_sandbox_bot"
LONG = "W" * 4_096


@pytest.mark.parametrize("locale", LOCALES)
def test_a_card_says_in_both_languages_what_its_payer_has_to_understand(locale: str) -> None:
    request = replace(a_request(), idr=None)
    shown = screens.build_facts(TRANSLATIONS.get(locale), request, BOT)
    for each in LOCALES:
        assert label("payment_requests.card.title", each) in shown.title
        assert label("payment_requests.amount.open", each) in shown.amount
        assert label("payment_requests.card.hint", each) in shown.hints
    assert shown.hints[0] == label("payment_requests.card.hint", locale)
    assert request.number not in str(shown)


@pytest.mark.parametrize("width_mm", screens.PAPERS.values())
def test_a_printed_card_is_read_from_paper(width_mm: int) -> None:
    request = replace(a_request(), idr=None, note=LONG[:MAX_NOTE_LENGTH])
    facts = screens.build_facts(TRANSLATIONS.get("id"), request, BOT)
    assert facts.steps == (label("payment_requests.card.steps", "id"), label("payment_requests.card.steps"))
    printed = draw_for_print(replace(facts, holder=LONG), width_mm)
    page = Image.open(io.BytesIO(printed[printed.index(b"\xff\xd8\xff") :]))
    assert page.size == (1080, 1527), "as high as an A size"
    assert qr_texts(page) == [make_link(BOT, request.token)]


@pytest.mark.parametrize("text", ["Emma", LONG, "kata " * 800, "🎉" * 99, "\u202e\u0645\u0631 <b>", ""])
def test_a_card_is_four_to_five_and_read_whatever_is_in_it(text: str) -> None:
    request = a_request()
    facts = screens.build_facts(TRANSLATIONS.get("id"), replace(request, note=LONG[:MAX_NOTE_LENGTH]), BOT)
    picture = Image.open(io.BytesIO(draw_card(replace(facts, holder=text, amount=text, subtitle=text, note=text))))
    assert picture.size == (1080, 1350)
    picture.thumbnail((1_280, 1_280))
    assert qr_texts(picture.convert("L")) == [make_link(BOT, request.token)]
