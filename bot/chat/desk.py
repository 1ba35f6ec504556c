"""What every screen may reach for, and the visit it serves: who has come, with what, at which draft."""

from collections import OrderedDict
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import tzinfo
from zoneinfo import ZoneInfo

from bot.actions.drafts import Drafts
from bot.actions.help import Help
from bot.actions.market import Market
from bot.actions.observe import Observer
from bot.actions.orders import Orders
from bot.actions.ports import Clock, Person, Settlement, Store
from bot.chat.messenger import Delivered, Gone, Messenger
from bot.chat.screen import Screen
from bot.domain.draft import OrderDraft
from bot.i18n import Html, Translations, Translator

PROMPTS_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Typed:
    """A person wrote this."""

    text: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """A person pressed a button of the current screen."""

    action: str
    argument: str = ""


Said = Typed | Pressed


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The parts of the house that screens use; made once, in `app.py`."""

    store: Store
    settlement: Settlement
    market: Market
    drafts: Drafts
    orders: Orders
    observer: Observer
    help: Help
    messenger: Messenger
    translations: Translations
    clock: Clock
    default_locale: str


@dataclass(slots=True, kw_only=True)
class Visit:
    """One update of one person, and the way to answer it."""

    desk: Desk
    person: Person
    t: Translator
    update_id: int
    draft: OrderDraft | None = None
    message_id: int | None = None
    query_id: str | None = None
    notice: Html | None = None
    failure: Exception | None = None

    @property
    def chat_id(self) -> int:
        """The private chat, which has the person's own id."""
        return self.person.id

    @property
    def zone(self) -> tzinfo:
        """The person's time zone."""
        return ZoneInfo(self.person.time_zone)

    @property
    def is_replayed(self) -> bool:
        """Whether the draft has taken this update in already, before a crash."""
        return self.draft is not None and self.draft.last_update_id >= self.update_id

    async def acknowledge(self, text: str | None = None, *, alert: bool = False) -> None:
        """Answer the press, once; work comes after that."""
        if self.query_id is not None:
            query_id, self.query_id = self.query_id, None
            await self.desk.messenger.answer_press(query_id, text, alert=alert)

    async def show(self, screen: Screen) -> None:
        """Show a screen: in the pressed message's place, or as a new message after something typed.

        A `notice` stands above it, once.
        """
        if self.notice is not None:
            screen, self.notice = replace(screen, text=f"{self.notice}\n\n{screen.text}"), None
        if self.message_id is not None:
            edited = await self.desk.messenger.edit_text(
                self.chat_id, self.message_id, screen.text, screen.keyboard, lane="talk"
            )
            if not isinstance(edited, Gone):
                return
        await self.say(screen)

    async def say(self, screen: Screen) -> None:
        """Show a screen as a new message; buttons of the prompt before it are taken away."""
        stale = PROMPTS.pop(self.chat_id, None)
        sent = await self.desk.messenger.send_text(self.chat_id, screen.text, screen.keyboard, lane="talk")
        if isinstance(sent, Delivered) and sent.message_id is not None and screen.keyboard:
            _remember_prompt(self.chat_id, sent.message_id)
        if stale is not None:
            await self.desk.messenger.edit_keyboard(self.chat_id, stale, (), lane="talk")


PROMPTS: OrderedDict[int, int] = OrderedDict()
"""The last prompt of each chat, so that its buttons can be taken away. Forgetting one does no harm: an old button
explains itself."""


def _remember_prompt(chat_id: int, message_id: int) -> None:
    PROMPTS[chat_id] = message_id
    while len(PROMPTS) > PROMPTS_REMEMBERED:
        PROMPTS.popitem(last=False)


VISIT: ContextVar[Visit] = ContextVar("visit")
"""The visit that is being served in this task; set before an update goes through the handlers."""
