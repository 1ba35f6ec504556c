"""Replies are sent, corrected and withdrawn through a Bot API server, and support gets the true result."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.rendering import Renderers
from bot.infra.telegram.outbound.sender import Messenger
from bot.sandbox.telegram import SUPPORT_GROUP_ID as GROUP
from bot.support.model import BotMessage, BotMessageRole, IncomingMessage, MediaKind, Ticket, TicketEntry
from bot.support.notifications import Remark
from bot.support.repository import BotMessageRepository
from bot.support.topics import TicketTopics
from bot.users.model import User
from bot.users.readers import RenderContexts
from bot.users.repository import UserRepository
from tests.e2e.chat_user import as_base64
from tests.infra.builders import an_infra
from tests.infra.test_messenger_against_sandbox import messenger
from tests.pictures import png
from tests.rendering import PartialSender
from tests.sandbox.telegram_sandbox import Running, running
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_system import EMMA, RINA, TicketSystem
from tests.texts import says, text

FILES: dict[str, dict[str, Any]] = {
    "photo": {"picture": as_base64(png(40, 30))},
    "document": {"file": {"name": "a.pdf", "content": "JVBE"}},
}


def reply_sender(system: TicketSystem, telegram: Messenger) -> PartialSender:
    """Return a sender of replies and remarks."""
    infra = an_infra(system.store, system.clock, telegram)
    readers = RenderContexts(infra)
    staff, users = system.messages_to_staff(TicketTopics(infra)), system.messages_to_users()
    return PartialSender(Renderers(readers.open, users.renderers(), staff.renderers()))


class ReplySystem(TicketSystem):
    """A system in which Rina writes in the group, and Emma reads in her chat."""

    def __init__(self, database: str, server: Running, telegram: Messenger) -> None:
        super().__init__(database, MovedClock(), GROUP)
        self.server = server
        sender = reply_sender(self, telegram)
        self.delivery = OutboxDelivery(
            self.store,
            sender,
            self.clock,
            follow_ups=self.follow_ups(),
        )

    async def open_with_card(self) -> Ticket:
        """Open a ticket with its card in the group."""
        ticket = await self.open_ticket()
        card = await self.server.bot.send_message(GROUP, "the card")
        now = self.clock.now()
        async with self.store.transaction() as tx:
            await UserRepository(tx).save(User(id=EMMA, created_at=now, language_code="en"))
            await BotMessageRepository(tx).add(
                BotMessage(
                    chat_id=GROUP, message_id=card.message_id, ticket=ticket.reference, role=BotMessageRole.CARD, at=now
                )
            )
        return ticket

    async def send(self, text: str = "It is <b>on its way</b>.", **what: Any) -> IncomingMessage:
        """Send a message of Rina in the group."""
        sent = await self.server.posts(
            f"/sandbox/chats/{GROUP}/send", {"from": RINA, "html": text, **what}, field="message"
        )
        photo, file = sent.get("photo"), sent.get("document")
        return IncomingMessage(
            chat_id=GROUP,
            message_id=sent["message_id"],
            text=text or None,
            media=MediaKind.PHOTO if photo else MediaKind.DOCUMENT if file else None,
            file_id=photo[-1]["file_id"] if photo else file["file_id"] if file else None,
        )

    async def deliver_reply(self, ticket: Ticket, written: IncomingMessage) -> TicketEntry:
        """Deliver Rina's reply, and return its entry."""
        entry = await self.tickets.reply(ticket.reference, RINA, written)
        assert entry is not None
        await self.deliver()
        return await self.reload_entry(entry)

    async def set_blocked(self, *, blocked: bool = True) -> None:
        await self.server.people.patch(f"/sandbox/people/{EMMA}", json={"blocked": blocked})

    async def emma_messages(self) -> list[dict[str, Any]]:
        return [message for message in await self.server.sees(EMMA) if message["from"]["is_bot"]]

    async def group_lines(self) -> list[str]:
        """Return the bot's messages in the group, without the card."""
        messages = await self.server.sees(GROUP)
        return [str(each.get("text")) for each in messages if each["from"]["is_bot"]][1:]

    async def reaction(self, entry: TicketEntry) -> str:
        found = [each for each in await self.server.sees(GROUP) if each["message_id"] == entry.source_message_id]
        return "".join(found[0]["sandbox"]["reactions"])


def reply_heading(ticket: Ticket) -> str:
    """Return the heading of a reply in Emma's chat."""
    return text("support.ticket.from_support", ticket=ticket.reference)


def remark_line(ticket: Ticket, what: Remark, why: str = "") -> str:
    """Return the remark in the group about a reply."""
    because = {"why": text(f"support.staff.why.{why}")} if why else {}
    return text("support.staff.remark", ticket=ticket.reference, said=text(f"support.staff.remark.{what}", **because))


@pytest.fixture
async def system(file: str) -> AsyncIterator[ReplySystem]:
    async with running() as server, messenger(server.url, server.settings.bot_token) as telegram:
        await server.says(EMMA, "/start")
        made = ReplySystem(file, server, telegram)
        yield made
        await made.store.close()


@pytest.fixture
async def ticket(system: ReplySystem) -> Ticket:
    return await system.open_with_card()


async def test_an_answer_reaches_its_user_as_a_quote_in_the_bots_name(system: ReplySystem, ticket: Ticket) -> None:
    entry = await system.deliver_reply(ticket, await system.send())
    (told,) = await system.emma_messages()
    assert told["text"] == f"{reply_heading(ticket)}\nIt is on its way."
    assert [each["type"] for each in told["entities"]] == ["bold", "blockquote", "bold"]
    assert told["reply_markup"]["inline_keyboard"][0][0]["callback_data"] == f"t:{ticket.reference}:say"
    assert (entry.message_id, await system.reaction(entry), await system.group_lines()) == (
        told["message_id"],
        "👌",
        [],
    )


@pytest.mark.parametrize("kind", ["photo", "document"])
@pytest.mark.parametrize("words", ["The proof", ""])
async def test_a_picture_or_a_file_goes_along(system: ReplySystem, ticket: Ticket, kind: str, words: str) -> None:
    await system.deliver_reply(ticket, await system.send(words, **FILES[kind]))
    (told,) = await system.emma_messages()
    assert kind in told
    assert told["caption"] == reply_heading(ticket) + (f"\n{words}" if words else "")


async def test_where_reactions_are_not_allowed_a_line_says_it(system: ReplySystem, ticket: Ticket) -> None:
    await system.server.posts(f"/sandbox/chats/{GROUP}/reactions", {"allowed": False})
    await system.deliver_reply(ticket, await system.send())
    assert await system.group_lines() == [remark_line(ticket, Remark.DELIVERED)]


async def test_who_has_blocked_the_bot_is_never_said_to_have_got_it(system: ReplySystem, ticket: Ticket) -> None:
    await system.set_blocked()
    entry = await system.deliver_reply(ticket, await system.send())
    assert await system.group_lines() == [remark_line(ticket, Remark.FAILED, "blocked")]
    assert (await system.reaction(entry), await system.emma_messages()) == ("", [])
    await system.set_blocked(blocked=False)
    assert await system.tickets.retry_reply(ticket.reference, RINA, entry.number)
    await system.deliver()
    assert (await system.reaction(entry), len(await system.emma_messages())) == ("👌", 1)


async def test_a_corrected_answer_is_corrected_in_its_place(system: ReplySystem, ticket: Ticket) -> None:
    entry = await system.deliver_reply(ticket, await system.send("It arives"))
    corrected = IncomingMessage(chat_id=GROUP, message_id=entry.source_message_id, text="It arrives")
    assert await system.tickets.edit(entry, RINA, corrected)
    await system.deliver()
    (told,) = await system.emma_messages()
    assert told["text"] == f"{reply_heading(ticket)}\n{text('support.ticket.corrected')}\nIt arrives"
    assert (told["message_id"], await system.reaction(entry)) == (entry.message_id, "✍")


@pytest.mark.parametrize("kind", ["photo", "document"])
async def test_words_under_a_picture_or_a_file_are_corrected_in_their_place(
    system: ReplySystem, ticket: Ticket, kind: str
) -> None:
    written = await system.send("The prove", **FILES[kind])
    entry = await system.deliver_reply(ticket, written)
    corrected = IncomingMessage(
        chat_id=GROUP,
        message_id=entry.source_message_id,
        text="The proof",
        media=entry.media,
        file_id=entry.file_id,
    )
    await system.tickets.edit(entry, RINA, corrected)
    await system.deliver()
    (told,) = await system.emma_messages()
    assert kind in told
    assert told["caption"].endswith("The proof")


async def test_a_correction_of_what_is_no_longer_there_is_sent_anew(system: ReplySystem, ticket: Ticket) -> None:
    entry = await system.deliver_reply(ticket, await system.send())
    await system.server.bot.delete_message(EMMA, entry.message_id or 0)
    corrected = IncomingMessage(chat_id=GROUP, message_id=entry.source_message_id, text="Tomorrow")
    await system.tickets.edit(entry, RINA, corrected)
    await system.deliver()
    (told,) = await system.emma_messages()
    assert told["text"].endswith("Tomorrow")
    assert (await system.reload_entry(entry)).message_id == told["message_id"] != entry.message_id


async def test_what_is_taken_back_is_deleted_and_both_sides_are_told(system: ReplySystem, ticket: Ticket) -> None:
    entry = await system.deliver_reply(ticket, await system.send("For somebody else"))
    await system.tickets.withdraw(entry, RINA)
    await system.deliver()
    (told,) = await system.emma_messages()
    assert says(told["text"], "support.ticket.taken_back")
    assert "For somebody else" not in told["text"]
    assert await system.group_lines() == [remark_line(ticket, Remark.TAKEN_BACK)]


async def test_after_two_days_its_words_are_taken_out_and_that_is_said(system: ReplySystem, ticket: Ticket) -> None:
    entry = await system.deliver_reply(ticket, await system.send("For somebody else"))
    system.server.clock.pass_(hours=49)
    await system.tickets.withdraw(entry, RINA)
    await system.deliver()
    (told,) = await system.emma_messages()
    assert says(told["text"], "support.ticket.taken_back")
    assert (told["message_id"], "For somebody else" in told["text"]) == (entry.message_id, False)
    assert await system.group_lines() == [remark_line(ticket, Remark.BLANKED)]


async def test_a_picture_of_two_days_ago_stays_and_nobody_claims_otherwise(system: ReplySystem, ticket: Ticket) -> None:
    entry = await system.deliver_reply(ticket, await system.send("Not for you", **FILES["photo"]))
    system.server.clock.pass_(hours=49)
    await system.tickets.withdraw(entry, RINA)
    await system.deliver()
    (told,) = await system.emma_messages()
    assert says(told["caption"], "support.ticket.taken_back")
    assert ("photo" in told, "Not for you" in told["caption"]) == (True, False)
    assert await system.group_lines() == [remark_line(ticket, Remark.TAKING_BACK_FAILED, "file_stays")]


async def test_what_can_not_be_taken_back_from_who_has_blocked_the_bot_is_said_to_be_there(
    system: ReplySystem, ticket: Ticket
) -> None:
    entry = await system.deliver_reply(ticket, await system.send())
    await system.set_blocked()
    await system.tickets.withdraw(entry, RINA)
    await system.deliver()
    assert await system.group_lines() == [remark_line(ticket, Remark.TAKING_BACK_FAILED, "blocked")]


async def test_an_answer_that_is_taken_back_in_time_is_never_sent(system: ReplySystem, ticket: Ticket) -> None:
    entry = await system.tickets.reply(ticket.reference, RINA, await system.send())
    assert entry is not None
    await system.tickets.withdraw(entry, RINA)
    await system.deliver()
    assert await system.emma_messages() == []
    assert await system.group_lines() == [remark_line(ticket, Remark.UNSENT)]
