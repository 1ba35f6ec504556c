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

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any, Generic, TypeVar, get_type_hints

from telegram import Update
from telegram.ext import (
    ApplicationHandlerStop,
    BaseHandler,
    CallbackQueryHandler,
    CommandHandler,
    ContextTypes,
    filters,
)

from bot.infra.telegram.ui.callbacks import Callback, read_button

Context = ContextTypes.DEFAULT_TYPE
Handler = BaseHandler[Update, Context, object]
PRIVATE = filters.ChatType.PRIVATE & filters.UpdateType.MESSAGE
"""New messages in a private chat."""

S = TypeVar("S")
B = TypeVar("B", bound=Callback)
E = TypeVar("E", bound=StrEnum)
A = TypeVar("A")

ButtonHandler = Callable[[S, B], Awaitable[object]]
CommandAction = Callable[[S, str], Awaitable[object]]
"""Gets the session and the text after the command."""

OpenSession = Callable[[Update], Awaitable[S | None]]
"""Returns the session of an update, or None if its user may not use the route in this chat."""

Refuse = Callable[[Update], Awaitable[None]]


class Audience(StrEnum):
    """Who may use a route."""

    EVERYONE = "everyone"
    SUPPORT = "support"
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


@dataclass(frozen=True, slots=True)
class Route:
    """A button or a command, for the list of routes.

    `belongs_to` names the object that must belong to the user, such as "order". It is empty if there is no such object.
    """

    name: str
    audience: Audience
    belongs_to: str = ""


class Routes(Generic[S]):
    """The buttons and commands of one feature for one audience."""

    def __init__(
        self,
        audience: Audience = Audience.EVERYONE,
        *,
        open_session: OpenSession[S] | None = None,
        refuse: Refuse | None = None,
        only: Any = None,  # noqa: ANN401  PTB's filter
        is_fallback: bool = False,
    ) -> None:
        self.audience = audience
        self.is_fallback = is_fallback
        """Whether all other handlers come first."""
        self.open_session = open_session
        """Opens the session of a user who may use the routes. If None, `bot/updates.py` decides by the audience."""
        self.refuse = refuse
        self.only = only
        self._buttons: dict[type[Callback], tuple[ButtonHandler[S, Any], str]] = {}
        self._commands: dict[str, CommandAction[S]] = {}
        self.menu: dict[str, Places] = {}
        """The commands in Telegram's menus, with their places."""

    def add_button(self, kind: type[B], handler: ButtonHandler[S, B], *, belongs_to: str = "") -> None:
        """Make `handler` the handler of this kind of button.

        Raises:
            ValueError: the kind already has a handler.
        """
        if kind in self._buttons:
            raise ValueError(f"{kind.__qualname__} has two handlers")
        self._buttons[kind] = handler, belongs_to

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
            ValueError: the kind already has a handler, or one of its actions has no function.
        """
        missing = [str(action) for action in get_type_hints(kind)["action"] if action not in actions]
        if missing:
            raise ValueError(f"{kind.__qualname__} has no function for {', '.join(missing)}")
        find_action = attrgetter("action")

        async def handle(session: S, button: B) -> None:
            await handler(session, button, actions[find_action(button)])

        self.add_button(kind, handle, belongs_to=belongs_to)

    def add_command(self, name: str, action: CommandAction[S], *, menu: Places) -> None:
        """Make `action` the handler of this command, which has these places in the menus.

        Raises:
            ValueError: the command already has a handler.
        """
        if name in self._commands:
            raise ValueError(f"/{name} has two handlers")
        self._commands[name] = action
        self.menu[name] = menu

    def list_routes(self) -> Iterator[Route]:
        """Yield every route. Commands come first."""
        for name in self._commands:
            yield Route(f"/{name}", self.audience)
        for kind, (_, belongs_to) in self._buttons.items():
            yield Route(kind.prefix, self.audience, belongs_to)

    def button_kinds(self) -> frozenset[type[Callback]]:
        """Return the kinds of buttons that have a handler in these routes."""
        return frozenset(self._buttons)

    def build_handlers(self, open_session: OpenSession[S], refuse: Refuse, only: Any = None) -> list[Handler]:  # noqa: ANN401  PTB's filter
        """Return the handlers for python-telegram-bot.

        Args:
            open_session: opens the session of a user who may use the routes. A command of another user is left to other
                handlers, as if the command didn't exist.
            refuse: answers a press by a user who may not use the button.
            only: python-telegram-bot's filter for messages with commands.
        """
        return [
            *(
                CommandHandler(name, self._build_command_handler(name, open_session), filters=only)
                for name in self._commands
            ),
            CallbackQueryHandler(self._build_button_handler(open_session, refuse), pattern=self._has_button),
        ]

    def _has_button(self, data: object) -> bool:
        return isinstance(data, str) and type(read_button(data)) in self._buttons

    def _build_button_handler(self, open_session: OpenSession[S], refuse: Refuse) -> Callable[[Update, Context], Any]:
        async def handle(update: Update, _: Context) -> None:
            query = update.callback_query
            button = read_button((query.data or "") if query else "")
            if button is not None:
                session = await open_session(update)
                if session is None:
                    await refuse(update)
                else:
                    await self._buttons[type(button)][0](session, button)
            raise ApplicationHandlerStop

        return handle

    def _build_command_handler(self, name: str, open_session: OpenSession[S]) -> Callable[[Update, Context], Any]:
        async def handle(update: Update, _: Context) -> None:
            session = await open_session(update)
            if session is None:
                return
            text = (update.effective_message.text or "") if update.effective_message else ""
            _command, *rest = text.split(maxsplit=1)
            await self._commands[name](session, rest[0] if rest else "")
            raise ApplicationHandlerStop

        return handle
