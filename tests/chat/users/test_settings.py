"""The settings: the phrase, the language, the time zone, and how notifications arrive."""

import asyncio
import re
from functools import partial
from operator import ne

import pytest

from bot.infra.i18n import LOCALES
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, order_of, tap_to_invoice, tap_to_review
from tests.e2e.system import System
from tests.texts import label, like, says
from tests.waiting import found

pytestmark = pytest.mark.asyncio(loop_scope="session")


SHOWN_IN = ("checkout.review.phrase", "users.phrase.offer", "users.pay.phrase")
IN_TOKYO = re.compile(r"\d\d:\d\d UTC\+9 · Tokyo")
SUGGESTED = re.compile("(?P<phrase>[a-z]+ [a-z]+ [a-z]+)")


def phrase_in(shown: str) -> str:
    matches = [re.search(like(key, phrase=SUGGESTED), shown) for key in SHOWN_IN]
    phrases = [match["phrase"] for match in matches if match]
    assert phrases, shown
    return phrases[0]


def is_silent(message: Json) -> bool:
    return bool(message["sandbox"]["silent"])


async def where_it_stands(user: ChatUser, phrase: str) -> list[str]:
    """Return the messages with the phrase, without invoices and receipts."""
    texts = [each["text"] for each in await user.messages() if "text" in each]
    return [words for words in texts if phrase in words]


async def test_a_phrase_is_chosen_in_one_tap_or_in_ones_own_words_and_stands_on_every_invoice(
    shared_system: System,
) -> None:
    await asyncio.gather(
        had_in_one_tap_and_on_the_invoice_alone(shared_system),
        of_ones_own_words_beside_a_draft(shared_system),
    )


async def test_notifications_and_times_come_as_a_user_likes_them(shared_system: System) -> None:
    await asyncio.gather(
        told_as_chosen(shared_system),
        times_follow_the_zone_that_was_typed(shared_system),
    )


async def had_in_one_tap_and_on_the_invoice_alone(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/start")
    welcome = text_of(await emma.sees(like("home.start.text")))
    assert await emma.buttons() == [
        label("users.button.send"),
        label("payment_requests.button.ask"),
        label("home.button.read_more"),
        label("users.language.other", name=LOCALES["id"].name),
        label("users.button.settings"),
    ]
    review = await tap_to_review(emma)
    phrase = phrase_in(text_of(review))
    assert phrase not in welcome
    await emma.taps(label("checkout.button.other_words"))
    await emma.sees(like("users.phrase.offer", phrase=phrase))
    await emma.taps(label("users.phrase.use"))
    kept = await emma.sees(like("users.phrase.kept", phrase=phrase))
    await emma.taps(label("checkout.draft.continue"))
    again = await emma.sees(like("checkout.review.title"))
    assert again["message_id"] == kept["message_id"] == review["message_id"]
    assert phrase not in text_of(again)
    await emma.taps(label("checkout.review.confirm"))
    invoice = await emma.sees("lnbcrt")
    order = await order_of(shared_system, emma)
    assert says(text_of(invoice), "users.pay.phrase", phrase=phrase)
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    await emma.sees(like("orders.notification.sent_bank"))
    stands = await where_it_stands(emma, phrase)
    assert stands == [], "what stays says nothing of it"
    assert phrase not in shared_system.read_log()


async def of_ones_own_words_beside_a_draft(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask"))
    await emma.says("bca")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says("/phrase")
    await emma.sees(like("users.phrase.offer"))
    await emma.taps(label("users.phrase.own"))
    await emma.sees(like("users.phrase.ask"))
    refusals = {
        "see kirim.example": like("users.phrase.link"),
        "kopi tubruk ungu": like("users.phrase.obvious"),
        "🙈" * 4000: like("users.phrase.too_long", actual=4000, longest=40),
    }
    for typed, reason in refusals.items():
        await emma.says(typed)
        await emma.sees(f"{reason}\n\n{like('users.phrase.ask')}")
    await emma.sends_a_sticker()
    await emma.sees(like("users.chat.only_text"))
    await emma.says("  Nasi goreng &  teh   manis ")
    await emma.sees(like("users.phrase.kept", phrase="Nasi goreng & teh manis"))
    await emma.taps(label("checkout.draft.continue"))
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says("1234567890")
    await emma.sees(like("checkout.holder.ask"))
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(like("checkout.amount.ask"))
    await emma.says("500rb")
    await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.review.confirm"))
    assert says(text_of(await emma.sees("lnbcrt")), "users.pay.phrase", phrase="Nasi goreng & teh manis")


async def choose(user: ChatUser, *taps: tuple[str, int]) -> None:
    """Open the notification settings, and tap these lines so many times."""
    await user.says("/settings")
    await user.sees(like("home.settings.text"))
    await user.taps(label("orders.settings.notices"))
    await user.sees(like("orders.preferences.text"))
    for name, times in taps:
        line = label(f"orders.preferences.{name}")
        for _ in range(times):
            message, _ = await user.button(line)
            before = await user.labels_of(message)
            await user.taps(line)
            await found(partial(user.labels_of, message), partial(ne, before), what=f"another {line}")


async def told_as_chosen(shared_system: System) -> None:
    emma, rina = await new_user(shared_system), await new_user(shared_system)
    await choose(emma, ("paid", 2), ("steps", 1), ("sent", 1))
    changed = {
        f"📄 {label('orders.preferences.paid')}",
        f"🔔 {label('orders.preferences.steps')}",
        f"🔕 {label('orders.preferences.sent')}",
    }
    assert changed | {label("orders.preferences.usual")} <= set(await emma.buttons())
    placed = []
    for user in (emma, rina):
        _, order = await tap_to_invoice(shared_system, user)
        placed.append(order)
        await shared_system.service.pays(order)
    assert is_silent(await emma.sees(like("orders.notification.paid"), anywhere=True))
    assert not is_silent(await rina.sees(like("orders.notification.paid"), anywhere=True))
    for order in placed:
        await shared_system.service.does("advance", orderId=order["id"])
    assert not is_silent(await emma.sees(like("orders.notification.converting"), anywhere=True))
    for order in placed:
        await complete_order(shared_system, order)
    assert is_silent(await emma.sees(like("orders.notification.sent_bank"), anywhere=True))
    assert not is_silent(await rina.sees(like("orders.notification.sent_bank"), anywhere=True))
    assert await rina.count(like("orders.notification.converting")) == 0


async def times_follow_the_zone_that_was_typed(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/settings")
    assert "WIB" in text_of(await emma.sees(like("home.settings.text")))
    await emma.taps(label("users.settings.zone"))
    await emma.sees(like("users.zone.ask"))
    await emma.taps(label("users.zone.other"))
    await emma.sees(like("users.zone.ask_place"))
    await emma.says("atlantis under sea")
    await emma.sees(like("users.zone.unknown"))
    await emma.says("usa")
    await emma.sees(like("users.zone.which", query="usa"))
    await emma.says("tokyo")
    await emma.sees(like("users.zone.is_it", time=IN_TOKYO))
    assert "UTC+9" in (await emma.taps(label("users.zone.use")))["text"]
    await emma.sees(like("home.settings.text", time=IN_TOKYO))
    pay, _ = await tap_to_invoice(shared_system, emma)
    until = re.compile(r"\d\d:\d\d UTC\+9")
    assert says(text_of(pay), "orders.pay.lightning", at=until)
    assert not any(entity["type"] == "date_time" for entity in pay.get("caption_entities", []))
    await emma.says("/settings")
    await emma.taps(label("users.settings.zone"))
    await emma.taps("WITA")
    await emma.sees(like("home.settings.text", time=re.compile(r"\d\d:\d\d WITA")))


@pytest.mark.parametrize("place", ["Jerman", "Germany", "Berlin", "saya di Jerman"])
async def test_a_place_is_typed_where_the_zones_are_offered(shared_system: System, place: str) -> None:
    emma = await new_user(shared_system)
    await emma.says("/settings")
    await emma.taps(label("users.settings.zone"))
    await emma.sees(like("users.zone.ask"))
    await emma.says(place)
    await emma.sees(like("users.zone.is_it", time=re.compile(r"\d\d:\d\d UTC\+[12] · Berlin")))
    await emma.taps(label("users.zone.use"))
    await emma.sees(like("home.settings.text", time=re.compile(r"\d\d:\d\d UTC\+[12] · Berlin")))
    await emma.says("Jerman")
    await emma.sees(like("home.chat.not_understood"))  # the question is closed by its answer
