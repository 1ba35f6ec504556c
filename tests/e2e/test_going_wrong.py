"""Money came in and the rupiah don't go out: the person is told by themselves, and reaches a person in one tap."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.e2e.people import Newcomer, bot_knows, newcomer, taps_to_invoice
from tests.e2e.trouble import assert_repeats_say_so, calls_of, good_weather, held
from tests.e2e.world import Json, World, words_of, world

pytestmark = pytest.mark.asyncio(loop_scope="module")

STUCK = "Your payment has come in, but the transfer is taking longer than usual"
STAFF_STUCK, STAFF_FAILED = "A paid order takes too long", "An order failed after it was paid"
SETTINGS = {"STUCK_SECONDS": "2", "SUPPORT_CONTACT": "@kirim_help"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with world(tmp_path_factory.mktemp("wrong"), **SETTINGS) as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
            await staff.says("/start")
        yield made


async def test_a_payment_that_goes_no_further_is_told_once_and_its_end_comes_as_usual(kirim: World) -> None:
    emma = await newcomer(kirim)
    order, reference = await paid(kirim, emma)
    told = await emma.sees(rf"{STUCK}.* sats came in at \d\d:\d\d WIB")
    assert "our staff have been told" in words_of(told)
    assert await emma.labels_of(told) == ["Talk to a person"]
    await emma.sees("Your payment is in, but the transfer is taking longer than usual", anywhere=True)
    note = await kirim.oscar.sees(f"{STAFF_STUCK}\n.*{reference}", anywhere=True)
    assert "1234567890" not in words_of(note)
    await asks_for_a_person(kirim, emma, told, reference)
    await kirim.service.does("advance", orderId=order["id"], state="COMPLETED")
    await emma.sees("They usually show in the account", anywhere=True)
    assert await emma.count(f"came in at.*{'so nothing gets lost'}") == 1
    assert await kirim.oscar.count(f"{STAFF_STUCK}\n.*{reference}") == 1


async def asks_for_a_person(kirim: World, emma: Newcomer, told: Json, reference: str) -> None:
    opened = await emma.sees("Opened by itself, because the transfer takes longer than usual", anywhere=True)
    ticket = words_of(opened).split()[2]
    await emma.taps("Talk to a person", message=told)
    question = await emma.sees(f"Your ticket {ticket} is open")
    assert f"You can also write to @kirim_help; please quote the order {reference}." in words_of(question)
    links = [entity.get("url") for entity in question["entities"] if entity["type"] == "text_link"]
    assert links == ["https://t.me/kirim_help"]
    await emma.says("Where is it?")
    await emma.sees(f"Added to ticket {ticket}")
    assert "1234567890" not in str(await Newcomer(kirim.telegram, kirim.rina.id).reads(last=50))


async def test_a_failure_after_the_payment_is_told_by_itself_to_sender_and_staff_in_their_languages(
    kirim: World,
) -> None:
    budi = await newcomer(kirim)
    card, order = await taps_to_invoice(kirim, budi)
    reference = reference_of(card)
    await budi.speaks("id")
    await budi.says("/status")
    await budi.sees("Menunggu pembayaran|Sedang berjalan")
    await kirim.service.pays(order)
    await kirim.service.does("fail", orderId=order["id"])
    told = await budi.sees("Transfer gagal setelah pembayaran masuk.*Uang sudah keluar", anywhere=True)
    assert "petugas sudah diberi tahu dengan sendirinya" in words_of(told)
    assert await budi.labels_of(told) == ["Bicara dengan petugas"]
    await kirim.oscar.sees(f"{STAFF_FAILED}\n.*{reference}", anywhere=True)
    assert await kirim.oscar.count(f"{STAFF_STUCK}\n.*{reference}") == 0


async def test_killed_while_it_tells_the_bot_repeats_what_may_not_have_arrived_and_no_more(kirim: World) -> None:
    sari = await newcomer(kirim)
    async with held(calls_of(kirim, "sendMessage"), kirim.oscar):
        _, reference = await paid(kirim, sari)
    await kirim.kill_bot()
    await good_weather(kirim)
    await kirim.start_bot()
    await kirim.oscar.sees(f"{STAFF_STUCK}\n.*{reference}", anywhere=True)
    await sari.sees(STUCK, anywhere=True)
    assert await kirim.oscar.count(f"{STAFF_STUCK}\n.*{reference}") == 1
    # Hers may have been on its way, too: then it comes once more, and says that it may be a repetition.
    told = [words_of(message) for message in await sari.messages() if "so nothing gets lost" in words_of(message)]
    assert_repeats_say_so(told, kills=1)


async def test_where_there_are_no_staff_the_contact_is_named(kirim: World) -> None:
    await kirim.stop_bot()
    await kirim.start_bot(OPERATOR_IDS="", SUPPORT_IDS="", SUPPORT_CONTACT="help@kirim.example")
    nina = await newcomer(kirim)
    _, reference = await paid(kirim, nina)
    told = await nina.sees(STUCK)
    assert "says whom to ask about it" in words_of(told)
    await nina.taps("Talk to a person", message=told)
    await nina.sees(f"Please write to help@kirim.example and quote the order {reference}")


async def paid(kirim: World, person: Newcomer) -> tuple[Json, str]:
    """An order that is paid and then hangs at the service."""
    card, order = await taps_to_invoice(kirim, person)
    await kirim.service.pays(order)
    await bot_knows(kirim, order, is_paid=1)
    return order, reference_of(card)


def reference_of(card: Json) -> str:
    return words_of(card).partition("Order ")[2].split()[0]
