"""Never: nobody reaches another's order or ticket by any button, command, reply, forged press or forwarded message.

Every way in that the bot has is tried by everybody who may not use it. Nothing is told to them, nothing changes.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

import pytest
import pytest_asyncio

from bot.infra.i18n import Translations
from bot.infra.telegram.ui.router import Audience
from bot.operations.command_menus import SUPPORT_COMMANDS
from bot.orders.buttons import OrderButton
from bot.sandbox.telegram import SUPPORT_GROUP_ID
from bot.support.staff.buttons import StaffTicketAction, StaffTicketButton
from bot.support.user_chat.buttons import UserTicketButton
from tests.e2e import access
from tests.e2e.access import PrivateData
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import order_of
from tests.e2e.system import System, running_system
from tests.pictures import png
from tests.texts import in_any_language, label, like
from tests.waiting import until

in_one_system = pytest.mark.asyncio(loop_scope="module")
SENTENCES = Translations.load(strict=True)
WORDS = "only between us"
TICKET = re.compile("T-[0-9A-Z]{5}")
NOBODY = "999"
OPERATORS_BUTTONS = re.compile("^(?:bc|bd|st|al|au):")
NONE = re.compile("(?!)")
PICTURE = png(8, 8)


@dataclass
class Stage:
    """A world in which somebody has matters, and the others who are in it."""

    system: System
    emma: ChatUser
    matters: PrivateData
    stranger: ChatUser
    member: ChatUser
    foreign_group: int


@dataclass(frozen=True)
class Try:
    """Somebody who tries, in some chat, in their language: all `commands` (none named: all there are), and all buttons.

    `but` are buttons that are theirs to press.
    """

    who: str
    by: ChatUser
    language: str = "en"
    but: re.Pattern[str] = NONE
    commands: Iterable[str] = ()

    @property
    def is_in_a_group(self) -> bool:
        return self.by.chat_id != self.by.id

    def refusal(self, pressed: str) -> str | None:
        """What a press is answered with; None where anybody may press it, about themselves."""
        t = SENTENCES.get(self.language)
        if pressed.partition(":")[0] in access.button_prefixes(Audience.SUPPORT):
            return t.plain("staff.not_yours")
        if self.is_in_a_group or OrderButton.read(pressed):
            return t.plain("stale.not_yours")
        return t.plain("ticket.gone") if UserTicketButton.read(pressed) else None


@dataclass(frozen=True)
class Known:
    """What stood in some chats when the event of this number was the last."""

    number: int
    by_chat: dict[int, dict[int, str]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with running_system(tmp_path_factory.mktemp("never"), MAX_MESSAGES_PER_MINUTE="0") as made:
        yield await set_up(made)


async def set_up(made: System) -> Stage:
    """Emma has an unpaid order, a failed one with a ticket that goes on, and one with a ticket that is closed."""
    for staff in (made.oscar, made.rina):
        await staff.speaks("en")
        await staff.says("/start")
    emma, room = await new_user(made), ChatUser(made.telegram, 3001, SUPPORT_GROUP_ID)
    orders = [await an_order(made, emma) for _ in range(3)]
    await fail(made, emma, orders[:2])
    heads = [await head_of(room, order) for order in orders[:2]]
    tickets = [TICKET.findall(text_of(head))[0] for head in heads]
    await room.says(WORDS, reply_to=heads[0])
    told = await emma.sees(WORDS)
    await handles(made, emma, f"{WORDS} 2", reply_to=told)
    await room.presses(heads[1], StaffTicketButton(tickets[1], StaffTicketAction.CLOSE_AS, "solved").pack(), force=True)
    await in_peace(made)
    await looks_around(made, emma, orders)
    references = tuple(str(row_of(made, order)["reference"]) for order in orders)
    invoice = str(row_of(made, orders[2])["bolt11"])
    matters = PrivateData(
        user_id=emma.id,
        orders=references,
        tickets=tuple(tickets),
        secrets=frozenset(
            {
                "8620123456",
                "3456",
                WORDS,
                invoice,
                str(emma.id),
                *references,
                *tickets,
                *map(service_id, orders),
            }
        ),
        seen=frozenset().union(
            *[access.button_data_in(await each.messages()) for each in (emma, room, made.oscar, made.rina)]
        ),
    )
    stranger, member = await new_user(made), await new_user(made)
    for user in (stranger, member, made.sari):
        await user.says("/start")
        await user.sees(in_any_language("start.text"))
    await joins(made, member.id)
    foreign = await made.telegram.post("/sandbox/chats", json={"title": "Elsewhere", "members": [3001, member.id]})
    elsewhere = foreign.raise_for_status().json()["id"]
    await ChatUser(made.telegram, 3001, elsewhere).says("hello")
    return Stage(made, emma, matters, stranger, member, elsewhere)


async def an_order(made: System, emma: ChatUser) -> Json:
    await emma.says("/send 500rb bca 8620123456")
    await emma.sees(like("review.title"))
    await emma.taps(label("review.confirm"))
    await emma.sees(like("card.pay_before"))
    return await order_of(made, emma)


async def fail(made: System, emma: ChatUser, orders: list[Json]) -> None:
    """These are paid, and fail; a ticket is opened for each."""
    for order in orders:
        await made.service.pays(order)
    await emma.sees_times(len(orders), like("news.paid"))
    for order in orders:
        await made.service.does("fail", orderId=order["id"])


def service_id(order: Json) -> str:
    return str(order["id"])


async def head_of(room: ChatUser, order: Json) -> Json:
    return await room.waits_for(lambda message: order["id"] in text_of(message), anywhere=True)


async def looks_around(made: System, emma: ChatUser, orders: list[Json]) -> None:
    """Emma and staff are shown all that they may see, so that others can try to press it."""
    reference = str(row_of(made, orders[0])["reference"])
    shown = {
        emma: ("/orders", "/recipients", "/settings", "/privacy", "/phrase", "/rate", "/help", "/send"),
        made.oscar: ("/broadcast", "/broadcasts", "/stats", "/status", "/audit", "/export"),
        made.rina: (f"/order {reference}", f"/person {emma.id}", "/tickets", "/answers", "/find bca"),
    }
    for user, wishes in shown.items():
        for wish in wishes:
            await handles(made, user, wish)


async def joins(made: System, user_id: int) -> None:
    order = {"person": user_id, "status": "member"}
    (await made.telegram.post(f"/sandbox/chats/{SUPPORT_GROUP_ID}/members", json=order)).raise_for_status()


async def handles(made: System, user: ChatUser, text: str, reply_to: Json | None = None) -> None:
    """Somebody writes, and the bot is done with it."""
    before = access.last_update_id(made)
    await user.says(text, reply_to=reply_to)
    await in_peace(made, before + 1)


async def in_peace(made: System, update_id: int = 0) -> None:
    """The bot is done with everything."""

    async def done() -> bool:
        return access.is_idle(made, update_id)

    await until(done, what="peace")


async def everything_is_heard(made: System) -> None:
    """What was written last has been answered, and all before it."""
    last = await new_user(made)
    await last.says("/start")
    await last.sees(like("start.text"))
    await in_peace(made)


async def tries(stage: Stage, one: Try) -> list[str]:
    """Press everything and type everything; what went wrong. Nothing of it is waited for longer than it takes."""
    under = await target(one.by)
    wrong: list[str] = []
    pressed = [each for each in access.buttons_to_try(stage.matters, one.language) if not one.but.match(each)]
    for each, answer in zip(pressed, await one.by.presses_all(under, pressed), strict=True):
        wrong += [f"{one.who}, {each}: {fault}" for fault in faults(stage, one, each, answer)]
    wanted = one.commands or access.command_names(in_groups=one.is_in_a_group)
    await one.by.says_all(access.commands_to_try(stage.matters, wanted))
    await everything_is_heard(stage.system)
    return wrong


async def nothing_comes_of(stage: Stage, *all_of_them: Try) -> None:
    """All at once: no secret is told, each press is refused as it should be, and nothing of anybody's changes."""
    await in_peace(stage.system)
    own = [one.by.id for one in all_of_them]
    before, known = access.stored_rows(stage.system, own), await what_is_known(stage, [one.by for one in all_of_them])
    found = await asyncio.gather(*(tries(stage, one) for one in all_of_them))
    assert [fault for each in found for fault in each] == []
    assert await told_since(stage, known) == []
    assert changed(before, access.stored_rows(stage.system, own)) == []


def changed(before: access.Rows, after: access.Rows) -> list[tuple[str, str]]:
    """What is other than it was, but for those who have come meanwhile only to ask whether all is heard."""
    return sorted(row for row in before ^ after if row[0] != "users" or row in before)


async def posts_in(room: ChatUser) -> list[Json]:
    """What the bot has written there."""
    return [each for each in await room.messages() if each.get("from", {}).get("is_bot") and text_of(each)]


def topic_of(message: Json) -> str:
    """What opened the topic it stands in."""
    return str(message.get("reply_to_message"))


async def target(chat: ChatUser) -> Json:
    """A message of the bot's to press made-up buttons under; in a group where it has none, anybody's."""
    messages = await chat.messages()
    own = [message for message in messages if message.get("from", {}).get("is_bot")]
    return (own or messages)[-1]


def faults(stage: Stage, one: Try, pressed: str, answer: Json) -> list[str]:
    """What is wrong with the answer to a press."""
    found = [f"tells {secret}" for secret in stage.matters.told_in(answer["text"])]
    if not answer["answered"]:
        found.append("isn't answered")
    expected = one.refusal(pressed)
    if expected is not None and (answer["text"], answer["show_alert"]) != (expected, True):
        found.append(f"answers {answer['text']!r}")
    return found


async def what_is_known(stage: Stage, chats: Iterable[ChatUser]) -> Known:
    """What stands in these chats by now."""
    by_chat = {chat.chat_id: access.bot_messages(await chat.messages()) for chat in chats}
    return Known(await access.last_event(stage.system), by_chat)


async def told_since(stage: Stage, known: Known) -> list[str]:
    """Secrets that were to be seen in these chats since, be it for a moment."""
    shown = [
        each for each in await access.shown_since(stage.system, known.number) if each["chat"]["id"] in known.by_chat
    ]
    fresh = {
        (message["chat"]["id"], text)
        for message in shown
        for number, text in access.bot_messages([message]).items()
        if known.by_chat[message["chat"]["id"]].get(number) != text
    }
    return [f"{chat}: {secret} in {text[:200]!r}" for chat, text in fresh for secret in stage.matters.told_in(text)]


def test_every_button_there_is_is_tried() -> None:
    nobody = PrivateData(1001, ("ABC2345",), ("T-2345A",), frozenset(), frozenset())
    made_up = access.buttons_to_try(nobody)
    assert [
        pattern for pattern in access.button_patterns() if not any(re.match(pattern, each) for each in made_up)
    ] == []
    assert len(access.button_patterns()) > 20


def test_every_command_there_is_is_tried() -> None:
    nobody = PrivateData(1001, ("ABC2345",), ("T-2345A",), frozenset(), frozenset())
    tried = {line[1:].split()[0] for line in access.commands_to_try(nobody, access.command_names())}
    assert {"send", "order", "person", "tickets", "find", "audit", "note", "unsend", "broadcast"} <= tried
    assert tried == access.command_names()
    assert access.command_names(in_groups=True) == {*SUPPORT_COMMANDS, "verify"}


@in_one_system
async def test_whoever_may_not_gets_nowhere_by_any_button_or_command(stage: Stage) -> None:
    made, elsewhere = stage.system, stage.foreign_group
    await nothing_comes_of(
        stage,
        Try("a stranger", stage.stranger),
        Try("another sender", made.sari, "id"),
        Try("an operator", made.oscar, but=OPERATORS_BUTTONS, commands=SUPPORT_COMMANDS),
        Try("an unlisted member", ChatUser(made.telegram, stage.member.id, SUPPORT_GROUP_ID)),
        Try("a supporter in a foreign group", ChatUser(made.telegram, 3001, elsewhere)),
    )


@in_one_system
async def test_a_reply_of_somebody_who_isnt_listed_goes_nowhere(stage: Stage) -> None:
    made = stage.system
    member = ChatUser(made.telegram, stage.member.id, SUPPORT_GROUP_ID)
    await in_peace(made)
    before = access.stored_rows(made, (member.id,))
    said = {message["message_id"] for message in await stage.emma.messages()}
    posts = await posts_in(member)
    closed = {each["message_thread_id"] for each in posts if stage.matters.tickets[1] in topic_of(each)}
    cards = [each for each in posts if each.get("message_thread_id") not in closed]
    for card in cards:
        own = await member.says("your money is here: …", reply_to=card)
        await member.edits(own, "no, here")
        await member.sends_photo(PICTURE, "look", reply_to=card)
    for line in ("/note I was here", "/unsend"):
        await handles(made, member, line, reply_to=cards[-1])
    await everything_is_heard(made)
    assert len(cards) > 1
    assert changed(before, access.stored_rows(made, (member.id,))) == []
    assert {message["message_id"] for message in await stage.emma.messages()} == said


@in_one_system
async def test_what_is_forwarded_opens_nothing(stage: Stage) -> None:
    made, whoever = stage.system, (stage.stranger, stage.system.sari, stage.system.oscar)
    await in_peace(made)
    own = [user.id for user in whoever]
    before = access.stored_rows(made, own)
    known = await what_is_known(stage, whoever)
    for user in whoever:
        await user.forwards_of(stage.emma, "help me please")
    await everything_is_heard(made)
    assert await told_since(stage, known) == []
    assert changed(before, access.stored_rows(made, own)) == []


@in_one_system
async def test_a_former_supporters_buttons_commands_and_replies_do_nothing(stage: Stage) -> None:
    made, rina = stage.system, stage.system.rina
    room = ChatUser(made.telegram, rina.id, SUPPORT_GROUP_ID)
    async with made.another_bot(SUPPORT_IDS=NOBODY):
        await nothing_comes_of(stage, Try("in private", rina, commands=SUPPORT_COMMANDS), Try("in the group", room))
        before = access.stored_rows(made, (rina.id,))
        said = {message["message_id"] for message in await stage.emma.messages()}
        for post in await posts_in(room):
            await room.says("one more thing", reply_to=post)
        await rina.forwards_of(stage.emma, "help me please")
        await everything_is_heard(made)
        assert changed(before, access.stored_rows(made, (rina.id,))) == []
        assert {message["message_id"] for message in await stage.emma.messages()} == said
