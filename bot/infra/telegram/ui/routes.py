"""Routes: the handler of each button and command, and who may use it.

A feature declares its routes where their handlers are:

    def routes(self) -> Routes[Session]:
        routes = Routes[Session]()
        routes.add_command("orders", self.list_orders)
        routes.add_button(OrderButton, self.order_button, belongs_to="order")
        routes.add_actions(PrivacyButton, self.privacy_button, {PrivacyAction.SHOW: self._show, …})
        return routes

`kirim routes` prints them all. A test tries each of them with users who may not use it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar, get_type_hints

from telegram import Message, MessageEntity, Update
from telegram.ext import filters

from bot.infra.telegram.ui.callbacks import Callback, read_button

PRIVATE: Final = filters.ChatType.PRIVATE & filters.UpdateType.MESSAGE
"""New messages in a private chat."""

S = TypeVar("S")
B = TypeVar("B", bound=Callback)
E = TypeVar("E", bound=StrEnum)
A = TypeVar("A")

ButtonHandler = Callable[[S, B], Awaitable[object]]
CommandAction = Callable[[S, str], Awaitable[object]]
"""Gets the session and the text after the command."""


class Audience(StrEnum):
    """Who may use a route."""

    EVERYONE = "everyone"
    SUPPORT = "support"
    STAFF = "staff"  # support, and in their private chats operators
    OPERATORS = "operators"


class Menu(StrEnum):
    """The menus of commands that Telegram shows, by who sees them."""

    EVERYONE = "everyone"
    OPERATORS = "operators"
    SUPPORT = "support"
    GROUP = "group"
    """The group of support agents, after the commands of support."""


Places = Mapping[Menu, int]
"""The menus that have a command, and its place in each: smaller numbers come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a button or a command does, and who may use it.

    Attributes:
        asked: the kind of button, or the name of the command.
        act: gets the session, and the button or the text after the command.
        audience: who may use it.
        belongs_to: names what must be the user's own, such as "order", or is empty. The handler checks it.
        menu: the menus that have the command.
        in_private: whether it works in private chats.
        in_groups: whether it works in groups.
    """

    asked: type[Callback] | str
    act: Callable[[Any, Any], Awaitable[object]]
    audience: Audience
    belongs_to: str = ""
    menu: Places = field(default_factory=dict)
    in_private: bool = True
    in_groups: bool = False

    @property
    def name(self) -> str:
        """The command with its slash, or the prefix of the button's data."""
        return f"/{self.asked}" if isinstance(self.asked, str) else self.asked.prefix

    def works(self, is_private: bool) -> bool:  # noqa: FBT001
        """Return whether it works in private chats, or in groups."""
        return self.in_private if is_private else self.in_groups


@dataclass(frozen=True, slots=True)
class Command:
    """A command in a message, and the text after it."""

    name: str
    text: str


def is_command(message: Message) -> bool:
    """Return whether a message begins with a command."""
    first = message.entities[0] if message.entities else None
    return first is not None and first.type == MessageEntity.BOT_COMMAND and first.offset == 0


def read_command(update: Update) -> Command | None:
    """Return the command that a new message begins with, or None. A command for another bot of a group is none."""
    message = update.message
    if message is None or message.text is None or not is_command(message):
        return None
    name, _, bot = message.text[1 : message.entities[0].length].partition("@")
    if bot and bot.lower() != message.get_bot().username.lower():
        return None
    _command, *rest = message.text.split(maxsplit=1)
    return Command(name.lower(), rest[0] if rest else "")


def read_press(update: Update) -> Callback | None:
    """Return the pressed button, or None. No button has data that can't be read."""
    query = update.callback_query
    return read_button(query.data or "") if query is not None else None


class Routes(Generic[S]):
    """The buttons and commands of one feature for one audience, in private chats or in groups."""

    def __init__(
        self, audience: Audience = Audience.EVERYONE, *, in_private: bool = True, in_groups: bool = False
    ) -> None:
        self._make = partial(Route, audience=audience, in_private=in_private, in_groups=in_groups)
        self.routes: list[Route] = []

    def add_button(self, kind: type[B], handler: ButtonHandler[S, B], *, belongs_to: str = "") -> None:
        """Make `handler` the handler of this kind of button."""
        self.routes.append(self._make(asked=kind, act=handler, belongs_to=belongs_to))

    def add_actions(
        self,
        kind: type[B],
        handler: Callable[[S, B, A], Awaitable[object]],
        actions: Mapping[E, A],
        *,
        belongs_to: str = "",
    ) -> None:
        """Make `handler` the handler of this kind of button, which also gets the function of the button's action.

        Raises:
            ValueError: one of its actions has no function.
        """
        missing = [str(action) for action in get_type_hints(kind)["action"] if action not in actions]
        if missing:
            raise ValueError(f"{kind.__qualname__} has no function for {', '.join(missing)}")
        find_action = attrgetter("action")

        async def handle(session: S, button: B) -> None:
            await handler(session, button, actions[find_action(button)])

        self.add_button(kind, handle, belongs_to=belongs_to)

    def add_command(self, name: str, action: CommandAction[S], *, menu: Places) -> None:
        """Make `action` the handler of this command, which has these places in the menus."""
        self.routes.append(self._make(asked=name, act=action, menu=menu))
