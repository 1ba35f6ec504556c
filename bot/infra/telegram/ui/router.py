"""Routes: which handler a button or a command goes to, and who may use it.

A feature declares its routes where their handlers are:

    def routes(self) -> Routes[Session]:
        routes = Routes[Session]()
        routes.add_command("orders", self.list_orders)
        routes.add_button(OrderButton, self.order_button, belongs_to="order")
        return routes

`python -m bot routes` prints them all, and the test of strangers tries each of them with those who may not.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

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

ButtonHandler = Callable[[S, B], Awaitable[object]]
CommandAction = Callable[[S, str], Awaitable[object]]
"""Takes the session and what was written after the command."""

OpenSession = Callable[[Update], Awaitable[S | None]]
"""Returns the session of an update; None where its user may not do this here."""

Refuse = Callable[[Update], Awaitable[None]]


class Audience(StrEnum):
    """Who may use a route."""

    EVERYONE = "everyone"
    SUPPORT = "support"
    OPERATORS = "operators"


@dataclass(frozen=True, slots=True)
class Route:
    """A button or a command, for the table of routes.

    `belongs_to` names the thing that must be the user's own, such as "order"; it is empty for what only concerns
    whoever uses it.
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
        """Whether all other handlers are asked first."""
        self.open_session = open_session
        """Who presses or writes, where they may; None for what `bot/app.py` decides by the audience."""
        self.refuse = refuse
        self.only = only
        self._buttons: dict[type[Callback], tuple[ButtonHandler[S, Any], str]] = {}
        self._commands: dict[str, CommandAction[S]] = {}

    def button(self, kind: type[B], *, belongs_to: str = "") -> Callable[[ButtonHandler[S, B]], ButtonHandler[S, B]]:
        """Let the decorated function handle the buttons of this kind."""

        def register(handler: ButtonHandler[S, B]) -> ButtonHandler[S, B]:
            if kind in self._buttons:
                raise ValueError(f"{kind.__qualname__} has two handlers")
            self._buttons[kind] = handler, belongs_to
            return handler

        return register

    def command(self, name: str) -> Callable[[CommandAction[S]], CommandAction[S]]:
        """Let the decorated function handle this command."""

        def register(handler: CommandAction[S]) -> CommandAction[S]:
            if name in self._commands:
                raise ValueError(f"/{name} has two handlers")
            self._commands[name] = handler
            return handler

        return register

    def add_button(self, kind: type[B], handler: ButtonHandler[S, B], *, belongs_to: str = "") -> None:
        """Let `handler` take the buttons of this kind.

        Raises:
            ValueError: they have a handler already.
        """
        self.button(kind, belongs_to=belongs_to)(handler)

    def add_command(self, name: str, action: CommandAction[S]) -> None:
        """Let `action` take this command.

        Raises:
            ValueError: it has a handler already.
        """
        self.command(name)(action)

    def list_routes(self) -> Iterator[Route]:
        """Yield every route, commands first."""
        for name in self._commands:
            yield Route(f"/{name}", self.audience)
        for kind, (_, belongs_to) in self._buttons.items():
            yield Route(kind.prefix, self.audience, belongs_to)

    def button_kinds(self) -> frozenset[type[Callback]]:
        """Return the kinds of buttons that have a handler here."""
        return frozenset(self._buttons)

    def build_handlers(self, open_session: OpenSession[S], refuse: Refuse, only: Any = None) -> list[Handler]:  # noqa: ANN401  PTB's filter
        """Return the handlers that PTB needs.

        Args:
            open_session: who presses or writes, where they may. A command of somebody who may not is left to other
                handlers, as if there were none of that name.
            refuse: answers a press by somebody who may not.
            only: PTB's filter for the messages that commands are read from.
        """
        return [
            *(CommandHandler(name, self._commanded(name, open_session), filters=only) for name in self._commands),
            CallbackQueryHandler(self._pressed(open_session, refuse), pattern=self._is_ours),
        ]

    def _is_ours(self, data: object) -> bool:
        return isinstance(data, str) and type(read_button(data)) in self._buttons

    def _pressed(self, open_session: OpenSession[S], refuse: Refuse) -> Callable[[Update, Context], Any]:
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

    def _commanded(self, name: str, open_session: OpenSession[S]) -> Callable[[Update, Context], Any]:
        async def handle(update: Update, _: Context) -> None:
            session = await open_session(update)
            if session is None:
                return
            text = (update.effective_message.text or "") if update.effective_message else ""
            _command, *rest = text.split(maxsplit=1)
            await self._commands[name](session, rest[0] if rest else "")
            raise ApplicationHandlerStop

        return handle
