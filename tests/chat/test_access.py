"""No user can reach another user's order or ticket by a button, command, reply, forged press or forwarded message.

Every command and button is tried by users who may not use it. They learn nothing, and nothing changes.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import timedelta

import pytest
import pytest_asyncio

from bot.home.command_menus import collect_menus
from bot.infra.i18n import Translations
from bot.infra.telegram.ui.routes import Audience, Menu
from bot.orders.buttons import OrderButton, TellButton
from bot.recipients.formatting import group_digits
from bot.sandbox.telegram import SUPPORT_GROUP_ID
from bot.staff import alarms
from bot.support.buttons import StaffTicketAction, StaffTicketButton, UserTicketButton
from tests.chat import access
from tests.chat.access import PrivateData
from tests.chat.system import running_in_process
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import order_of
from tests.e2e.system import System
from tests.examples import some
from tests.pictures import png
from tests.texts import in_any_language, label, like
from tests.waiting import until

in_one_system = pytest.mark.asyncio(loop_scope="module")
ROUTES = [routes for feature in access.APP.features for routes in feature.routes]
SUPPORT_COMMANDS = tuple(collect_menus(ROUTES)[Menu.SUPPORT])
"""The commands of agents in private."""

OPERATORS_COMMANDS = tuple(
    each.name[1:] for routes in ROUTES for each in routes.routes if each.audience is Audience.OPERATORS and each.menu
)

TRANSLATIONS = Translations.load(strict=True)
SECRET_TEXT = "only between us"
ORDER_LINE = "/send 500rb bca 8620123456"
TICKET = re.compile("T-[0-9A-Z]{5}")
NOBODY = "999"
OPERATORS_BUTTONS = re.compile("^(?:bc|bd|st|al|au|rc|dn):")
OTHERS_BUTTONS = re.compile(f"(?!{OPERATORS_BUTTONS.pattern})")
LOOKUPS = re.compile("^lu:")
NONE = re.compile("(?!)")
PICTURE = png(8, 8)


@dataclass
class AccessSystem:
    """A system in which Emma has private data, and the users who try to reach it."""

    system: System
    emma: ChatUser
    private: PrivateData
    stranger: ChatUser
    member: ChatUser
    foreign_group: int


@dataclass(frozen=True)
class Attempt:
    """A user who tries all buttons and commands in a chat.

    Attributes:
        who: the user's role, for the report.
        by: the user in this chat.
        language: the user's language.
        but: buttons that the user may press.
        commands: the commands to try, by default all.
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
        """Return the answer to a press, or None for a button that any user may press about themselves."""
        t = TRANSLATIONS.get(self.language)
        if pressed.partition(":")[0] in access.button_prefixes(Audience.SUPPORT, Audience.STAFF):
            return t.plain("support.staff.not_yours")
        if self.is_in_a_group:
            return t.plain("users.stale.in_group")
        if OrderButton.read(pressed) or TellButton.read(pressed):
            return t.plain("orders.stale.not_yours")
        return t.plain("support.ticket.gone") if UserTicketButton.read(pressed) else None


@dataclass(frozen=True)
class RecordedMessages:
    """The messages in some chats at the time of the event with this number."""

    number: int
    by_chat: dict[int, dict[int, str]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[AccessSystem]:
    with pytest.MonkeyPatch.context() as patch:
        # On a busy machine all attempts take longer than the pause, and operators would be reminded.
        patch.setattr(alarms, "REMIND_AFTER_START", timedelta(days=1))
        async with running_in_process(tmp_path_factory.mktemp("never"), MAX_MESSAGES_PER_MINUTE="0") as made:
            yield await set_up(made)


async def set_up(made: System) -> AccessSystem:
    """Give Emma an unpaid order, a failed one with an open ticket, and a failed one with a closed ticket."""
    for staff in (made.oscar, made.rina):
        await staff.speaks("en")
        await staff.says("/start")
    emma, group = await new_user(made), ChatUser(made.telegram, 3001, SUPPORT_GROUP_ID)
    orders = [await an_order(made, emma) for _ in range(3)]
    await fail(made, emma, orders[:2])
    ticket_messages = [await ticket_message_of(group, order) for order in orders[:2]]
    tickets = [TICKET.findall(text_of(ticket_message))[0] for ticket_message in ticket_messages]
    await group.says(SECRET_TEXT, reply_to=ticket_messages[0])
    shown_reply = await emma.sees(SECRET_TEXT)
    await write_and_wait(made, emma, f"{SECRET_TEXT} 2", reply_to=shown_reply)
    await group.presses(
        ticket_messages[1], StaffTicketButton(tickets[1], StaffTicketAction.CLOSE_AS, "solved").pack(), force=True
    )
    await wait_until_idle(made)
    await open_every_screen(made, emma, orders)
    references = tuple(str(row_of(made, order)["reference"]) for order in orders)
    invoice = str(row_of(made, orders[2])["bolt11"])
    private = PrivateData(
        user_id=emma.id,
        orders=references,
        tickets=tuple(tickets),
        service_ids=tuple(order["id"] for order in orders),
        drafts=tuple(str(row_of(made, order)["draft_id"]) for order in orders),
        secrets=frozenset(
            {
                "8620123456",
                group_digits("8620123456"),
                "3456",
                SECRET_TEXT,
                invoice,
                str(emma.id),
                *references,
                *tickets,
                *map(service_id, orders),
            }
        ),
        seen=frozenset().union(
            *[access.button_data_in(await each.messages()) for each in (emma, group, made.oscar, made.rina)]
        ),
    )
    stranger, member = await new_user(made), await new_user(made)
    for user in (stranger, member, made.sari):
        await user.says("/start")
        await user.sees(in_any_language("home.start.text"))
    await add_member(made, member.id)
    foreign = await made.telegram.post("/sandbox/chats", json={"title": "Elsewhere", "members": [3001, member.id]})
    elsewhere = foreign.raise_for_status().json()["id"]
    await ChatUser(made.telegram, 3001, elsewhere).says("hello")
    return AccessSystem(made, emma, private, stranger, member, elsewhere)


async def an_order(made: System, emma: ChatUser) -> Json:
    await emma.says(ORDER_LINE)
    await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    return await order_of(made, emma)


async def fail(made: System, emma: ChatUser, orders: list[Json]) -> None:
    """Pay these orders, and let them fail. The bot opens a ticket for each."""
    for order in orders:
        await made.service.pays(order)
    await emma.sees_times(len(orders), like("orders.notification.paid"))
    for order in orders:
        await made.service.does("fail", orderId=order["id"])


def service_id(order: Json) -> str:
    return str(order["id"])


async def ticket_message_of(group: ChatUser, order: Json) -> Json:
    return await group.waits_for(lambda message: order["id"] in text_of(message), anywhere=True)


async def open_every_screen(made: System, emma: ChatUser, orders: list[Json]) -> None:
    """Open every screen of Emma and staff, so that other users can try their buttons."""
    reference = str(row_of(made, orders[0])["reference"])
    shown = {
        emma: ("/orders", "/recipients", "/settings", "/privacy", "/phrase", "/rate", "/help", ORDER_LINE),
        made.oscar: ("/broadcast", "/broadcasts", "/stats", "/status", "/audit", "/export"),
        made.rina: (f"/order {reference}", f"/customer {emma.id}", "/tickets", "/replies", "/find bca"),
    }
    for user, lines in shown.items():
        for line in lines:
            await write_and_wait(made, user, line)


async def add_member(made: System, user_id: int) -> None:
    order = {"person": user_id, "status": "member"}
    (await made.telegram.post(f"/sandbox/chats/{SUPPORT_GROUP_ID}/members", json=order)).raise_for_status()


async def write_and_wait(made: System, user: ChatUser, text: str, reply_to: Json | None = None) -> None:
    """Write to the bot, and wait until it has handled the message."""
    before = access.last_update_id(made)
    await user.says(text, reply_to=reply_to)
    await wait_until_idle(made, before + 1)


async def wait_until_idle(made: System, update_id: int = 0) -> None:
    """Wait until the bot has handled everything."""

    async def is_idle() -> bool:
        return access.is_idle(made, update_id)

    await until(is_idle, what="an idle bot")


async def wait_for_all_answers(made: System) -> None:
    """Wait until the bot has answered everything: a new user's message, and all messages before it."""
    last = await new_user(made)
    await last.says("/start")
    await last.sees(like("home.start.text"))
    await wait_until_idle(made)


async def try_everything(shared: AccessSystem, attempt: Attempt) -> list[str]:
    """Press every button and type every command. Return what went wrong."""
    under = await target(attempt.by)
    wrong: list[str] = []
    buttons = some(access.buttons_to_try(shared.private, attempt.language))
    pressed = [each for each in buttons if not attempt.but.match(each)]
    for each, answer in zip(pressed, await attempt.by.presses_all(under, pressed), strict=True):
        wrong += [f"{attempt.who}, {each}: {fault}" for fault in faults(shared, attempt, each, answer)]
    wanted = attempt.commands or access.command_names(in_groups=attempt.is_in_a_group)
    await attempt.by.says_all(access.commands_to_try(shared.private, wanted))
    await wait_for_all_answers(shared.system)
    return wrong


async def check_no_access(shared: AccessSystem, *attempts: Attempt) -> None:
    """Check that simultaneous attempts show no secret, get the right refusals, and change no data."""
    await wait_until_idle(shared.system)
    own = [attempt.by.id for attempt in attempts]
    before, recorded = (
        access.stored_rows(shared.system, own),
        await record_messages(shared, [attempt.by for attempt in attempts]),
    )
    found = await asyncio.gather(*(try_everything(shared, attempt) for attempt in attempts))
    assert [fault for each in found for fault in each] == []
    assert await secrets_shown_since(shared, recorded) == []
    assert changed(before, access.stored_rows(shared.system, own)) == []


def changed(before: access.Rows, after: access.Rows) -> list[tuple[str, str]]:
    """Return the rows that changed, except for new users: `wait_for_all_answers` adds some."""
    return sorted(row for row in before ^ after if row[0] != "users" or row in before)


async def posts_in(group: ChatUser) -> list[Json]:
    """Return the bot's messages in the group."""
    return [each for each in await group.messages() if each.get("from", {}).get("is_bot") and text_of(each)]


def topic_opener(message: Json) -> str:
    """Return the message that opened the topic of `message`, as text."""
    return str(message.get("reply_to_message"))


async def target(chat: ChatUser) -> Json:
    """Return a message to press made-up buttons under: the bot's last one, or any if the group has none of the bot."""
    messages = await chat.messages()
    own = [message for message in messages if message.get("from", {}).get("is_bot")]
    return (own or messages)[-1]


def faults(shared: AccessSystem, attempt: Attempt, pressed: str, answer: Json) -> list[str]:
    """Return what is wrong with the answer to a press."""
    found = [f"tells {secret}" for secret in shared.private.leaked_in(answer["text"])]
    if not answer["answered"]:
        found.append("isn't answered")
    expected = attempt.refusal(pressed)
    if expected is not None and (answer["text"], answer["show_alert"]) != (expected, True):
        found.append(f"answers {answer['text']!r}")
    return found


async def record_messages(shared: AccessSystem, chats: Iterable[ChatUser]) -> RecordedMessages:
    """Return the messages that these chats have now."""
    by_chat = {chat.chat_id: access.bot_messages(await chat.messages()) for chat in chats}
    return RecordedMessages(await access.last_event(shared.system), by_chat)


async def secrets_shown_since(shared: AccessSystem, recorded: RecordedMessages) -> list[str]:
    """Return the secrets that these chats have shown since then, even for a moment."""
    shown = await access.shown_since(shared.system, recorded.number, recorded.by_chat)
    fresh = {
        (message["chat"]["id"], text)
        for message in shown
        for number, text in access.bot_messages([message]).items()
        if recorded.by_chat[message["chat"]["id"]].get(number) != text
    }
    return [f"{chat}: {secret} in {text[:200]!r}" for chat, text in fresh for secret in shared.private.leaked_in(text)]


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
    assert {"send", "order", "customer", "tickets", "find", "audit", "note", "unsend", "broadcast"} <= tried
    assert tried == access.command_names()
    assert access.command_names(in_groups=True) == {*SUPPORT_COMMANDS, "help", "language", "verify", "id"}


@in_one_system
async def test_whoever_may_not_gets_nowhere_by_any_button_or_command(shared: AccessSystem) -> None:
    made, elsewhere = shared.system, shared.foreign_group
    await check_no_access(
        shared,
        Attempt("a stranger", shared.stranger),
        Attempt("another sender", made.sari, "id"),
        Attempt(
            "an operator",
            made.oscar,
            but=re.compile(f"{OPERATORS_BUTTONS.pattern}|{LOOKUPS.pattern}"),
            commands=set(SUPPORT_COMMANDS) - {"find"},
        ),
        Attempt("an agent", made.rina, but=OTHERS_BUTTONS, commands=OPERATORS_COMMANDS),
        Attempt("an unlisted member", ChatUser(made.telegram, shared.member.id, SUPPORT_GROUP_ID)),
        Attempt("a supporter in a foreign group", ChatUser(made.telegram, 3001, elsewhere)),
    )


@in_one_system
async def test_a_reply_of_somebody_who_isnt_listed_goes_nowhere(shared: AccessSystem) -> None:
    made = shared.system
    member = ChatUser(made.telegram, shared.member.id, SUPPORT_GROUP_ID)
    await wait_until_idle(made)
    before = access.stored_rows(made, (member.id,))
    earlier = {message["message_id"] for message in await shared.emma.messages()}
    posts = await posts_in(member)
    closed = {each["message_thread_id"] for each in posts if shared.private.tickets[1] in topic_opener(each)}
    cards = [each for each in posts if each.get("message_thread_id") not in closed]
    for card in cards:
        own = await member.says("your money is here: …", reply_to=card)
        await member.edits(own, "no, here")
        await member.sends_photo(PICTURE, "look", reply_to=card)
    for line in ("/note I was here", "/unsend"):
        await write_and_wait(made, member, line, reply_to=cards[-1])
    await wait_for_all_answers(made)
    assert len(cards) > 1
    assert changed(before, access.stored_rows(made, (member.id,))) == []
    assert {message["message_id"] for message in await shared.emma.messages()} == earlier


@in_one_system
async def test_a_former_supporters_buttons_commands_and_replies_do_nothing(shared: AccessSystem) -> None:
    made, rina = shared.system, shared.system.rina
    group = ChatUser(made.telegram, rina.id, SUPPORT_GROUP_ID)
    async with made.another_bot(SUPPORT_IDS=NOBODY):
        await check_no_access(
            shared, Attempt("in private", rina, commands=SUPPORT_COMMANDS), Attempt("in the group", group)
        )
        before = access.stored_rows(made, (rina.id,))
        earlier = {message["message_id"] for message in await shared.emma.messages()}
        for post in await posts_in(group):
            await group.says("one more thing", reply_to=post)
        await rina.forwards_of(shared.emma, "help me please")
        await wait_for_all_answers(made)
        assert changed(before, access.stored_rows(made, (rina.id,))) == []
        assert {message["message_id"] for message in await shared.emma.messages()} == earlier
