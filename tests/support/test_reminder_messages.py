"""Reminders reach the ticket's topic or chat, and operators get a link to the ticket."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.rendering import Renderers
from bot.sandbox.telegram import SUPPORT_GROUP_ID
from bot.support.model import BotMessage, BotMessageRole, Ticket
from bot.support.repository import BotMessageRepository
from bot.support.service import TicketReminderService
from bot.users.readers import RenderContexts
from tests.infra.builders import an_infra
from tests.infra.test_messenger_against_sandbox import messenger
from tests.rendering import PartialSender
from tests.sandbox.telegram_sandbox import OSCAR, RINA, Running, running
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_system import TicketSystem
from tests.texts import TRANSLATIONS, label, says, starts

REMIND_AFTER = timedelta(minutes=15)
T = TRANSLATIONS.get("en")


@dataclass
class Scene:
    """A system whose reminders reach a Bot API server."""

    system: TicketSystem
    server: Running
    waiting: TicketReminderService
    delivery: OutboxDelivery

    async def pass_time(self, **span: float) -> None:
        self.system.clock.passes(**span)
        await self.waiting.remind()
        while await self.delivery.start_due():
            await self.delivery.wait_until_sent()

    async def messages_in(self, chat: int) -> list[dict[str, Any]]:
        return [message for message in await self.server.sees(chat) if message["sandbox"]["outgoing"]]


@pytest.fixture
async def scene(file: str, request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    group = getattr(request, "param", SUPPORT_GROUP_ID)
    system = TicketSystem(file, MovedClock(), group=group)
    async with running() as server, messenger(server.url, server.settings.bot_token) as telegram:
        for staff in (OSCAR, RINA):
            await server.says(staff, "/start")
        readers = RenderContexts(an_infra(system.store, system.clock, telegram))
        messages = system.messages_to_staff()
        reminders = PartialSender(
            Renderers(readers.open, {kind: render for kind, render in messages.renderers().items() if "waits" in kind})
        )
        delivery = OutboxDelivery(system.store, reminders, system.clock, follow_ups=messages.follow_ups())
        waiting = TicketReminderService(
            system.store, system.clock, system.staff_chat, operator_ids=frozenset({OSCAR}), remind_after=REMIND_AFTER
        )
        yield Scene(system, server, waiting, delivery)
    await system.store.close()


async def send_card(scene: Scene, ticket: Ticket) -> BotMessage:
    """Send the ticket's card in a new topic, and save its message."""
    topic = await scene.server.bot.create_forum_topic(SUPPORT_GROUP_ID, ticket.reference)
    place = topic.message_thread_id
    card = await scene.server.bot.send_message(SUPPORT_GROUP_ID, "the case", message_thread_id=place)
    bot_message = BotMessage(
        chat_id=SUPPORT_GROUP_ID,
        message_id=card.message_id,
        ticket=ticket.reference,
        role=BotMessageRole.CARD,
        topic_id=place,
        at=scene.system.clock.now(),
    )
    async with scene.system.store.transaction() as tx:
        await BotMessageRepository(tx).add(bot_message)
    return bot_message


def labels(message: dict[str, Any]) -> dict[str, str]:
    rows = message.get("reply_markup", {}).get("inline_keyboard", [])
    return {button["text"]: button.get("url") or button["callback_data"] for row in rows for button in row}


async def test_the_reminder_stands_in_the_topic_under_the_card_and_may_be_replied_to(scene: Scene) -> None:
    ticket = await scene.system.open_ticket()
    head = await send_card(scene, ticket)
    await scene.pass_time(minutes=16)
    reminder = (await scene.messages_in(SUPPORT_GROUP_ID))[-1]
    assert (reminder["message_thread_id"], reminder["reply_to_message"]["message_id"]) == (
        head.topic_id,
        head.message_id,
    )
    assert starts(
        reminder["text"], "support.waiting.head", ticket=ticket.reference, waited=T.duration(timedelta(minutes=16))
    )
    assert says(reminder["text"], "support.waiting.unclaimed")
    assert labels(reminder) == {label("support.waiting.claim"): f"tk:{ticket.reference}:claim"}
    async with scene.system.store.reading() as tx:
        bot_message = await BotMessageRepository(tx).get(SUPPORT_GROUP_ID, reminder["message_id"])
    assert bot_message is not None
    assert (bot_message.ticket, bot_message.role, bot_message.topic_id) == (
        ticket.reference,
        BotMessageRole.REMARK,
        head.topic_id,
    )


async def test_whoever_holds_it_is_named_so_that_their_phone_tells_them(scene: Scene) -> None:
    ticket = await scene.system.open_ticket()
    await scene.system.tickets.claim(ticket.reference, RINA)
    await scene.pass_time(minutes=15)
    reminder = (await scene.messages_in(SUPPORT_GROUP_ID))[-1]
    mention = next(each for each in reminder["entities"] if each["type"] == "text_mention")
    assert mention["user"]["id"] == RINA
    assert labels(reminder) == {}


async def test_operators_get_the_way_to_the_ticket(scene: Scene) -> None:
    ticket = await scene.system.open_ticket()
    head = await send_card(scene, ticket)
    await scene.pass_time(minutes=15)
    await scene.pass_time(minutes=15)
    (told,) = await scene.messages_in(OSCAR)
    assert starts(
        told["text"], "support.waiting.long", ticket=ticket.reference, waited=T.duration(timedelta(minutes=30))
    )
    assert labels(told) == {
        label("support.waiting.open"): f"https://t.me/c/2000000001/{head.topic_id}/{head.message_id}"
    }


@pytest.mark.parametrize("scene", [0], indirect=True)
async def test_without_a_group_it_is_told_in_private_and_there_is_no_way_to_show(scene: Scene) -> None:
    await scene.system.open_ticket()
    await scene.pass_time(minutes=15)
    assert [len(await scene.messages_in(chat)) for chat in (RINA, OSCAR)] == [1, 1]
    await scene.pass_time(minutes=15)
    assert labels((await scene.messages_in(OSCAR))[-1]) == {}
    assert [len(await scene.messages_in(chat)) for chat in (RINA, OSCAR)] == [1, 2]


async def test_what_was_answered_before_it_could_be_told_is_not_told(scene: Scene) -> None:
    ticket = await scene.system.open_ticket()
    scene.system.clock.passes(minutes=15)
    await scene.waiting.remind()
    await scene.system.reply(ticket)
    await scene.pass_time()
    assert await scene.messages_in(SUPPORT_GROUP_ID) == []


async def test_a_reminder_whose_fate_is_unknown_is_told_again_and_says_so(scene: Scene) -> None:
    await scene.system.open_ticket()
    await scene.server.posts("/sandbox/faults", {"fault": "drop_after", "method": "sendMessage", "times": 1})
    await scene.pass_time(minutes=15)
    await scene.pass_time(minutes=1)
    reminders = [message["text"] for message in await scene.messages_in(SUPPORT_GROUP_ID)]
    assert [says(reminder, "infra.outbox.again") for reminder in reminders] == [False, True]
