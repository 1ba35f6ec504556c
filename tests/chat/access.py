"""All buttons and commands that users could misuse, and all stored rows that a misuse could change.

Buttons and commands come from the bot's own handlers and routes, so that a new one can't be left out. A test in
`tests/chat/test_access.py` fails for a button or command that nothing here tries.
"""

import base64
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import NullPool, create_engine, select

from bot import updates
from bot.app import build_declared
from bot.broadcasts.buttons import (
    BroadcastAction,
    BroadcastButton,
    BroadcastListButton,
    DeliveryAction,
    DeliveryButton,
    NewBroadcastButton,
)
from bot.checkout.buttons import DraftAction, DraftButton, LightningButton
from bot.core.locales import LOCALES
from bot.infra.db.encryption import read_row
from bot.infra.db.vault import Vault
from bot.infra.telegram.ui.routes import Audience
from bot.operations.buttons import ReconciliationAction, ReconciliationButton, StatisticsAction, StatisticsButton
from bot.orders.buttons import DestinationsButton, OrderAction, PreferenceButton, PreferencesAction, PreferencesButton
from bot.orders.preferences import DeliveryMode
from bot.payment_reminders.buttons import WEEK, NewReminderButton, ReminderAction, ReminderButton
from bot.payment_requests.buttons import (
    AskButton,
    AskOverButton,
    PayAction,
    PayButton,
    ReportAction,
    ReportedButton,
    ReportsButton,
    RequestAction,
    RequestButton,
    RequestsAction,
    RequestsActionButton,
    RequestsButton,
)
from bot.rates.buttons import RateButton, SubscriptionAction, SubscriptionButton
from bot.rates.model import ChartPeriod
from bot.recipients.buttons import RecipientAction, RecipientButton, RecipientsButton
from bot.sandbox.bot_api.box import KEPT_EVENTS
from bot.staff.buttons import (
    AlarmAction,
    AlarmButton,
    AuditExportButton,
    AuditFileButton,
    AuditPageButton,
    LookupButton,
    LookupPage,
)
from bot.staff.model import AlarmKind
from bot.support.buttons import (
    GroupLanguageButton,
    HelpButton,
    HelpPage,
    LeaveTicketQuestionButton,
    NewTicketButton,
    NextAction,
    NextButton,
    ReplyChoiceAction,
    ReplyChoiceButton,
    RevealAction,
    RevealButton,
    SavedReplyAction,
    SavedReplyButton,
    StaffTicketAction,
    StaffTicketButton,
    UserTicketAction,
    UserTicketButton,
    WriteSavedReplyButton,
)
from bot.support.model import CloseReason, Rating, Reason, TicketFilter
from bot.support.service_orders import MARK
from bot.tables import metadata
from bot.users.buttons import (
    DeletionButton,
    LanguageButton,
    PhraseAction,
    PhraseButton,
    PrivacyAction,
    PrivacyButton,
    SettingsAction,
    SettingsButton,
)
from tests.e2e.chat_user import Json, text_of
from tests.e2e.system import System
from tests.waiting import TIMEOUT_SECONDS

BOOKKEEPING = frozenset(
    {
        "inbox",
        "quotes",
        "sealing_keys",
        "chat_leases",
        "processes",
        "wrong_codes",
        "reconciliations",
        "reconciled_spans",
    }
)
"""Tables without data of users."""

MOVING = {"orders": frozenset({"last_polled_at", "next_poll_at", "version"})}
"""Columns that the poller changes all the time."""

THEIR_OWN = frozenset({"users", "drafts", "recipients", "subscriptions", "rate_alerts", "user_events", "outbox"})
"""Tables in which an attempt may change the user's own rows, such as a language or a draft."""

ABOUT_SOMETHING = re.compile(r"^(?:[dorht]|pr|prr|rem|tk|rv|lu|sa|au|bc|bd|al):")
"""Buttons about one user's data. Other buttons are about the user who presses them."""

Rows = frozenset[tuple[str, str]]


APP = build_declared()


@dataclass(frozen=True, slots=True)
class PrivateData:
    """The orders, drafts and tickets of one user, and the texts that would give them away."""

    user_id: int
    orders: tuple[str, ...]
    tickets: tuple[str, ...]
    secrets: frozenset[str]
    seen: frozenset[str]
    """The callback data of every button that the user or staff have seen."""

    service_ids: tuple[str, ...] = ("cm7k2jt8x0000qz01abcd1234",)
    """The service's ids of the orders."""

    drafts: tuple[str, ...] = ("0123456789",)
    """The drafts of the orders. One that is open is found by its buttons."""

    def leaked_in(self, text: str) -> list[str]:
        """Return the secrets that a text contains."""
        return sorted(secret for secret in self.secrets if re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", text))


def button_patterns() -> frozenset[str]:
    """Return the pattern of each kind of button."""
    names = (route.name for route in updates.list_routes(APP) if not route.name.startswith("/"))
    return frozenset(f"^{re.escape(name)}(?::|$)" for name in names)


def command_names(*, in_groups: bool = False) -> frozenset[str]:
    """Return the names of all commands, or of those that groups can use."""
    routes = (route for route in updates.list_routes(APP) if route.works(not in_groups))
    others = {"id", "verify"} if in_groups else ()
    return frozenset(others).union(route.name[1:] for route in routes if route.name.startswith("/"))


@cache
def button_prefixes(*audiences: Audience) -> frozenset[str]:
    """Return the prefixes of the buttons for these audiences."""
    routes = (
        route for route in updates.list_routes(APP) if route.audience in audiences and not route.name.startswith("/")
    )
    return frozenset(route.name.partition(":")[0] for route in routes)


def buttons_to_try(matters: PrivateData, language: str = "en") -> tuple[str, ...]:
    """Return all buttons about a user's data: those that were shown, and forged ones.

    `language` is the language of the user who presses. The language button must not change it.
    """
    shown = {each for each in matters.seen if ABOUT_SOMETHING.match(each)}
    return tuple(sorted({*shown, *_made_up(matters), LanguageButton(language).pack()}))


def commands_to_try(matters: PrivateData, wanted: Iterable[str]) -> Iterator[str]:
    """Yield these commands with arguments that a stranger could try."""
    about: Mapping[str, tuple[str, ...]] = {
        "order": (matters.orders[0], matters.tickets[0]),
        "customer": (str(matters.user_id), "@newcomer"),
        "find": ("bca",),
        "send": (),  # it repeats text that it doesn't understand
        "request": (),  # as `/send`
        "start": (f"v_{matters.orders[0]}", f"r_{matters.orders[0]:A<16}"),
    }
    for command in sorted(wanted):
        yield f"/{command}"
        yield from (f"/{command} {argument}" for argument in about.get(command, (matters.orders[0],)))


def stored_rows(system: System, but: Iterable[int] = ()) -> Rows:
    """Return all rows of all tables, except the own rows of these users."""
    own, vault = frozenset(but), Vault((base64.urlsafe_b64decode(system.environment["ENCRYPTION_KEYS"]),))
    engine = create_engine(
        f"sqlite:///file:{system.state / 'kirim.db'}?mode=ro&uri=true",
        poolclass=NullPool,
        connect_args={"timeout": TIMEOUT_SECONDS},
    )
    with engine.connect() as database:
        return frozenset(
            (table, repr(_stable_values(vault, table, row)))
            for table in metadata.tables.keys() - BOOKKEEPING
            for row in map(dict, database.execute(select(metadata.tables[table])).mappings())
            if not _is_of(table, row, own)
        )


def is_idle(system: System, update_id: int = 0) -> bool:
    """Return whether the bot has handled every update up to this one, and has sent all notifications."""
    with closing(
        sqlite3.connect(f"file:{system.state / 'kirim.db'}?mode=ro", uri=True, timeout=TIMEOUT_SECONDS)
    ) as database:
        last, left, to_tell = database.execute(
            "SELECT (SELECT coalesce(max(id), 0) FROM inbox),"
            " (SELECT count(*) FROM inbox WHERE finished_at IS NULL),"
            " (SELECT count(*) FROM outbox WHERE status IN ('waiting', 'sending'))"
        ).fetchone()
        return bool(last >= update_id) and not left and not to_tell


def last_update_id(system: System) -> int:
    """Return the id of the last update that the bot has saved."""
    with closing(
        sqlite3.connect(f"file:{system.state / 'kirim.db'}?mode=ro", uri=True, timeout=TIMEOUT_SECONDS)
    ) as database:
        return int(database.execute("SELECT coalesce(max(id), 0) FROM inbox").fetchone()[0])


def button_data_in(messages: Iterable[Json]) -> frozenset[str]:
    """Return the callback data of every button in these messages."""
    rows = (row for message in messages for row in (message.get("reply_markup") or {}).get("inline_keyboard", []))
    return frozenset(button["callback_data"] for row in rows for button in row if "callback_data" in button)


async def last_event(system: System) -> int:
    """Return the number of the last event in any chat."""
    return int((await system.telegram.get("/sandbox/state")).raise_for_status().json()["seq"])


async def shown_since(system: System, number: int, chats: Iterable[int]) -> list[Json]:
    """Return the messages shown after an event in these chats, also those that were replaced since."""
    assert await last_event(system) - number <= KEPT_EVENTS, "the sandbox has dropped events"
    shown: list[Json] = []
    for chat in chats:
        answer = await system.telegram.get(f"/sandbox/chats/{chat}/messages", params={"shown_after": number})
        shown += answer.raise_for_status().json()["shown"]
    return shown


def bot_messages(messages: Iterable[Json]) -> dict[int, str]:
    """Return the text and buttons of the bot's messages, by their ids."""
    return {
        message["message_id"]: f"{text_of(message)}\n{message.get('reply_markup')}"
        for message in messages
        if message.get("from", {}).get("is_bot")
    }


def _made_up(matters: PrivateData) -> Iterator[str]:
    for order in (*matters.orders, *(f"{MARK}{each}" for each in matters.service_ids)):
        yield from (f"o:{order}:{action}" for action in (*OrderAction, "nothing"))
        yield from (RevealButton(order, action, "").pack() for action in RevealAction)
        yield f"rv:{order}:nothing"
        yield f"h:{order}"
        yield f"tell:{order}:en"
    # What is asked for is read after who asks, so one order is enough.
    yield from (
        RevealButton(matters.orders[0], action, argument).pack()
        for action in RevealAction
        for argument in ("bank", *Reason)
    )
    for ticket in matters.tickets:
        yield from (StaffTicketButton(ticket, action).pack() for action in StaffTicketAction)
        yield from (StaffTicketButton(ticket, StaffTicketAction.CLOSE_AS, reason).pack() for reason in CloseReason)
        yield StaffTicketButton(ticket, StaffTicketAction.SEND_AGAIN, "1").pack()
        yield f"tk:{ticket}:nothing"
        yield from (UserTicketButton(ticket, action).pack() for action in UserTicketAction)
        yield f"t:{ticket}:nothing"
        yield from (UserTicketButton(ticket, UserTicketAction.RATE, rating).pack() for rating in Rating)
        yield from (ReplyChoiceButton(ticket, action, "thanks", "0" * 8).pack() for action in ReplyChoiceAction)
        yield from (f"sr:{ticket}:{word}" for word in ("pick", "send", "nothing"))
        yield from (NextButton(action, ticket, "done", "0" * 8).pack() for action in NextAction)
    open_drafts = {button.draft_id for each in matters.seen if (button := DraftButton.read(each)) is not None}
    for draft in (*matters.drafts, *open_drafts):
        yield from (DraftButton(draft, 0, action).pack() for action in DraftAction)
    yield from (SavedReplyButton(action, name).pack() for action in SavedReplyAction for name in ("", "thanks"))
    yield from (WriteSavedReplyButton("thanks", locale).pack() for locale in LOCALES)
    yield from ("sa:text", "sa:nothing", "nx:next", "nx:nothing")
    yield from (GroupLanguageButton(locale).pack() for locale in LOCALES)
    yield from _looked_up(matters)
    yield from (RecipientButton("0" * 32, action).pack() for action in RecipientAction)
    yield from (ReminderButton("0" * 16, action, 500_000).pack() for action in ReminderAction)
    yield from (NewReminderButton("0" * 32, 500_000, day).pack() for day in (WEEK, "fri"))
    yield from (RequestButton("0" * 16, action).pack() for action in RequestAction)
    yield from (ReportedButton("0" * 16, action).pack() for action in ReportAction)
    yield from (PayButton("0" * 16, action, 500_000, 31_250, "0" * 12).pack() for action in PayAction)
    yield from (AskButton().pack(), AskOverButton().pack(), RequestsButton().pack(), ReportsButton().pack())
    yield from (RequestsActionButton(action).pack() for action in RequestsAction)
    yield from (BroadcastButton("0" * 10, 1, action).pack() for action in BroadcastAction)
    yield from (DeliveryButton("0" * 10, action).pack() for action in DeliveryAction)
    yield from (
        AlarmButton(action, AlarmKind.ORDER_FAILED, order).pack() for action in AlarmAction for order in matters.orders
    )
    yield from (AuditPageButton("", actor).pack() for actor in ("", str(matters.user_id)))
    yield from (AuditExportButton().pack(), AuditFileButton("week").pack(), "au:page", "au:csv", "au:nothing")
    yield from (StatisticsButton(action, "week").pack() for action in StatisticsAction)
    yield from (ReconciliationButton(action, "month").pack() for action in ReconciliationAction)
    yield DestinationsButton("0").pack()
    yield from (DeletionButton(matters.user_id, "1").pack(), PrivacyButton(PrivacyAction.SEE).pack())
    yield from (PreferencesButton(PreferencesAction.SHOW).pack(), PreferenceButton("sent", DeliveryMode.SILENT).pack())
    yield from (NewBroadcastButton().pack(), BroadcastListButton(0).pack())
    yield from (RecipientsButton().pack(), f"d:{'0' * 8}:1:confirm", NewTicketButton().pack())
    yield LeaveTicketQuestionButton().pack()
    yield from (HelpButton(page).pack() for page in HelpPage)
    yield LightningButton().pack()
    yield from (RateButton(ChartPeriod.DAY).pack(), SubscriptionButton(SubscriptionAction.OPEN).pack())
    yield from (SettingsButton(SettingsAction.SHOW).pack(), PhraseButton(PhraseAction.SHOW).pack())
    yield from ("new", "over", "s:open")


def _looked_up(matters: PrivateData) -> Iterator[str]:
    queries: Mapping[LookupPage, tuple[str, ...]] = {
        LookupPage.TICKETS: tuple(f"{which}:0" for which in TicketFilter),
        **dict.fromkeys((LookupPage.TICKET, LookupPage.TICKET_HERE), matters.tickets),
        LookupPage.ORDER_OF_ALARM: matters.orders,
        LookupPage.ORDER: (*matters.orders, *(f"{MARK}{service_id}" for service_id in matters.service_ids)),
        LookupPage.EVIDENCE: (*matters.orders, *(f"{MARK}{service_id}" for service_id in matters.service_ids)),
        LookupPage.FOUND: tuple(order[:4] for order in matters.orders),
    }
    users = (str(matters.user_id), f"{matters.user_id}:0")
    yield from (LookupButton(page, query).pack() for page in LookupPage for query in queries.get(page, users))
    yield "lu:nothing:1"


def _stable_values(vault: Vault, table: str, row: dict[str, Any]) -> dict[str, object]:
    """Return a row without what changes all the time. Sealed values are opened, since each sealing differs."""
    opened = read_row(vault, metadata.tables[table], dict(row), dict)
    return {name: value for name, value in opened.items() if name not in MOVING.get(table, ())}


def _is_of(table: str, row: Mapping[str, object], own: frozenset[int]) -> bool:
    names = ("user_id", "chat_id", *(("id",) if table == "users" else ()))
    return table in THEIR_OWN and any(row.get(name) in own for name in names)
