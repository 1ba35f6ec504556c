"""Stories of a new user: the description in their language, and the commands that always work."""

import re

import pytest

from bot.infra.i18n import LOCALES
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.faults import wait_until_idle
from tests.e2e.new_users import new_user
from tests.e2e.system import System
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="session")

GROUP = -1_002_000_000_001


async def test_the_language_is_changed_in_one_tap_and_the_question_is_asked_again_in_it(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/start")
    await emma.taps(label("users.language.other", name=LOCALES["id"].name))
    await emma.sees(like("home.start.text", "id"))
    await emma.taps(label("users.button.send", "id"))
    await emma.sees(like("checkout.destination.ask", "id"))
    await emma.says("bca")
    await emma.sees(like("checkout.number.ask_bank", "id"))
    await emma.says("1234567890")
    await emma.sees(like("checkout.holder.ask", "id"))
    await emma.says("/language")
    await emma.sees(like("users.language.ask", "id"))
    assert (await emma.taps("English"))["text"] == label("users.language.changed")
    asked = await emma.sees(like("checkout.holder.ask"))
    assert asked["text"].startswith("BCA · 1234567890\n")
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(like("checkout.amount.ask"))
    await emma.speaks("id")
    await emma.says("500rb")
    await emma.sees(like("checkout.review.title"))  # what a person has chosen outlasts what their app says
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))


async def test_commands_in_the_middle_of_a_draft_lead_back_into_it(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask"))
    await emma.says("mandri")
    await emma.sees(like("checkout.number.ask_bank", name="Mandiri · BANK MANDIRI"))
    answers = {
        "/start": like("home.start.text"),
        "/help": like("support.help.text"),
        "/rate": like("rates.btc", rate="Rp"),
        "/status": like("orders.status.none"),
        "/RATE": like("rates.example", amount="Rp1,000,000", sats=re.compile("[0-9,]+ sats")),
        "/status@kirim_sandbox_bot": like("orders.status.none"),
        "/nonsense": like("checkout.chat.unknown_command"),
    }
    for command, answer in answers.items():
        await emma.says(command)
        await emma.sees(answer)
        assert (await emma.buttons())[0] == label("checkout.draft.continue"), command
        assert label("users.button.send") not in await emma.buttons()
    await emma.taps(label("checkout.draft.continue"))
    await emma.sees(like("checkout.number.ask_bank"))
    await wait_until_idle(shared_system)
    with_buttons = [message for message in await emma.messages() if message.get("reply_markup")]
    assert len(with_buttons) == 1  # the questions before have none any more


async def test_a_user_learns_their_id_and_an_operator_that_of_a_group(shared_system: System) -> None:
    for user_id in (1001, 2001):
        user = ChatUser(shared_system.telegram, user_id)
        await user.says("/id")
        assert str(user_id) in text_of(await user.sees(like("users.id.own")))
    oscar, rina = (ChatUser(shared_system.telegram, user_id, GROUP) for user_id in (2001, 3001))
    await oscar.says("/id@kirim_sandbox_bot")
    assert str(GROUP) in text_of(await oscar.sees(like("users.id.group")))
    await rina.says("/id")
    await rina.sees(like("users.group_chat.text", "id"))


async def test_in_a_group_the_bot_offers_the_private_chat_and_is_quiet_otherwise(shared_system: System) -> None:
    oscar = ChatUser(shared_system.telegram, 2001, GROUP)
    await oscar.says("/send@kirim_sandbox_bot 500rb bca 1234567890")
    offer = await oscar.sees(like("users.group_chat.text"))
    button = offer["reply_markup"]["inline_keyboard"][0][0]
    assert button["url"].startswith("https://t.me/kirim_sandbox_bot")
    rina = ChatUser(shared_system.telegram, 3001, GROUP)
    await rina.says("/status")
    await rina.sees(like("users.group_chat.text", "id"))
    unheard = [await rina.says("/status@another_bot"), await rina.says("lunch?")]
    await oscar.says("/rate")
    await oscar.sees(like("users.group_chat.text"))
    await wait_until_idle(shared_system)
    ids = {message["message_id"] for message in unheard}
    answers = [message.get("reply_to_message", {}).get("message_id") for message in await rina.messages()]
    assert ids.isdisjoint(answers)
