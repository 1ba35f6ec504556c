"""The first minutes: what this is, in the reader's language, and the commands that work at any point."""

import re

import pytest

from tests.e2e.people import bot_knows, completes, could_not_be_told, newcomer, taps_to_invoice
from tests.e2e.world import Chatter, World

pytestmark = pytest.mark.asyncio(loop_scope="session")

GROUP = -1_002_000_000_001


async def test_start_says_what_this_is_in_the_language_of_the_app(town: World) -> None:
    begins = {
        "en": ("Kirim sends rupiah from this chat\n", "Send rupiah"),
        "id": ("Kirim: kirim rupiah langsung dari chat\n", "Kirim rupiah"),
        "id-ID": ("Kirim: kirim rupiah", "Kirim rupiah"),
        "de": ("Kirim: kirim rupiah", "Kirim rupiah"),
        None: ("Kirim: kirim rupiah", "Kirim rupiah"),
    }
    for language, (words, button) in begins.items():
        person = await newcomer(town, language)
        await person.says("/start")
        shown = await person.sees(words)
        assert len(shown["text"].split("\n\n")[0].splitlines()) == 3
        assert (await person.buttons())[0] == button
    await person.speaks("en")
    await person.says("hello there")
    await person.sees("Kirim sends rupiah")


async def test_the_language_is_changed_in_one_tap_and_the_question_is_asked_again_in_it(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/start")
    await emma.taps("Bahasa Indonesia")
    await emma.sees("Kirim: kirim rupiah")
    await emma.taps("Kirim rupiah")
    await emma.sees("Mau dikirim ke mana")
    await emma.says("bca")
    await emma.sees("Nomor rekeningnya berapa")
    await emma.says("1234567890")
    await emma.sees("Atas nama siapa")
    await emma.says("/language")
    await emma.sees("Bahasa · Language")
    assert (await emma.taps("English"))["text"] == "English it is"
    asked = await emma.sees("Whose account is it")
    assert asked["text"].startswith("BCA · 1234567890\n")
    await emma.taps("Skip")
    await emma.sees("How much should arrive")
    await emma.speaks("id")
    await emma.says("500rb")
    await emma.sees("Please check")  # what a person has chosen outlasts what their app says
    await emma.taps("Confirm")
    await emma.sees("Waiting for your payment, until")


async def test_commands_in_the_middle_of_a_draft_lead_back_into_it(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/send")
    await emma.sees("Where should it go")
    await emma.says("mandri")
    await emma.sees("Mandiri · BANK MANDIRI\n\nWhich account number")
    answers = {
        "/start": "Kirim sends rupiah",
        "/help": "Stay safe",
        "/rate": "1 BTC = Rp",
        "/status": "No orders are under way",
        "/RATE": "Rp1,000,000 ≈ [0-9,]+ sats",
        "/status@kirim_sandbox_bot": "No orders are under way",
        "/nonsense": "I don't know that command",
    }
    for command, answer in answers.items():
        await emma.says(command)
        await emma.sees(answer)
        assert (await emma.buttons())[0] == "Continue", command
        assert "Send rupiah" not in await emma.buttons()
    await emma.taps("Continue")
    await emma.sees("Which account number")
    with_buttons = [message for message in await emma.messages() if message.get("reply_markup")]
    assert len(with_buttons) == 1  # the questions before have none any more


async def test_send_in_the_middle_of_a_draft_asks_whether_to_continue(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/start")
    welcome = await emma.sees("Kirim sends rupiah")
    _, new = await emma.button("Send rupiah")
    await emma.says("/SEND@Kirim_Sandbox_Bot")
    await emma.sees("Where should it go")
    await emma.says("bca")
    await emma.sees("Which account number")
    await emma.says("/send")
    await emma.sees("→ BCA\n\nYou have an unfinished order")
    await emma.taps("Continue")
    await emma.sees("Which account number")
    await emma.presses(welcome, new, force=True)  # the big button of old asks as well, and nothing is lost
    await emma.sees("You have an unfinished order")
    await emma.taps("Start over")
    await emma.sees("Where should it go")
    await emma.says("/cancel")
    await emma.sees("Cancelled. Nothing was ordered")
    await emma.says("/cancel")
    await emma.sees("There is nothing to cancel")


async def test_the_command_list_speaks_both_languages(town: World) -> None:
    commands = (await town.telegram.get("/sandbox/state")).json()["commands"]
    listed = str({scope: each for scope, each in commands.items() if not scope.startswith("chat:")})
    for words in ("Send rupiah", "Today's rate", "Kirim rupiah", "Kurs hari ini", "Bahasa Indonesia atau English"):
        assert words in listed
    assert set(re.findall(r"'command': '(\w+)'", listed)) == {
        "send",
        "recipients",
        "rate",
        "status",
        "orders",
        "verify",
        "cancel",
        "settings",
        "phrase",
        "privacy",
        "language",
        "help",
        "start",
    }


async def test_in_a_group_the_bot_offers_the_private_chat_and_is_quiet_otherwise(town: World) -> None:
    oscar = Chatter(town.telegram, 2001, GROUP)
    await oscar.says("/send@kirim_sandbox_bot 500rb bca 1234567890")
    offer = await oscar.sees("Payments are a private matter")
    button = offer["reply_markup"]["inline_keyboard"][0][0]
    assert button["url"].startswith("https://t.me/kirim_sandbox_bot")
    rina = Chatter(town.telegram, 3001, GROUP)
    await rina.says("/status")
    await rina.sees("Urusan pembayaran itu pribadi")
    before = len(await rina.messages())
    await rina.says("/status@another_bot")
    await rina.says("lunch?")
    await oscar.says("/rate")
    await oscar.sees("Payments are a private matter")
    assert len(await rina.messages()) == before + 4


async def test_who_comes_back_after_blocking_hears_what_happened(town: World) -> None:
    emma = await newcomer(town)
    _, order = await taps_to_invoice(town, emma)
    await emma.blocks()
    await town.service.pays(order)
    await completes(town, order)
    sari = await newcomer(town, "id")
    await sari.says("/start")  # others are served meanwhile
    await sari.sees("Kirim: kirim rupiah")
    await bot_knows(town, order, state="COMPLETED")
    await could_not_be_told(town, emma)  # who unblocks sooner is told the usual way
    await emma.blocks(blocked=False)
    card = await emma.sees("Welcome back! This happened in the meantime")
    assert "✅ Sent" in card["text"]
    await emma.sees_times(1, "Order made")  # the card that nothing could reach is gone
    await emma.says("/status")
    await emma.sees("No orders are under way")
