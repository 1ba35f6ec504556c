"""All methods of the server, and running one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from bot.sandbox.bot_api.box import Sandbox
from bot.sandbox.bot_api.methods import answers as methods_answers
from bot.sandbox.bot_api.methods import bot as methods_bot
from bot.sandbox.bot_api.methods import chats as methods_chats
from bot.sandbox.bot_api.methods import edits as methods_edits
from bot.sandbox.bot_api.methods import inline as methods_inline
from bot.sandbox.bot_api.methods import messages as methods_messages
from bot.sandbox.bot_api.methods import new_messages as methods_new_messages
from bot.sandbox.bot_api.methods import profile as methods_profile
from bot.sandbox.bot_api.methods import reactions as methods_reactions
from bot.sandbox.bot_api.methods import topics as methods_topics
from bot.sandbox.bot_api.methods import updates as methods_updates
from bot.sandbox.bot_api.server.errors import BadRequest, NotFound
from bot.sandbox.bot_api.server.params import Params

if TYPE_CHECKING:
    from collections.abc import Mapping

Method: TypeAlias = Callable[[Sandbox, Params], Awaitable[Any]]

MODULES = (
    methods_answers,
    methods_bot,
    methods_chats,
    methods_edits,
    methods_inline,
    methods_messages,
    methods_profile,
    methods_reactions,
    methods_new_messages,
    methods_topics,
    methods_updates,
)
SERVED: Mapping[str, Method] = {name: method for module in MODULES for name, method in module.METHODS.items()}
_BY_LOWER_NAME = {name.lower(): method for name, method in SERVED.items()}


def find_method(name: str) -> Method:
    """Return the method of a name, in any case.

    Raises:
        NotFound: there is no such method.
    """
    method = _BY_LOWER_NAME.get(name.lower())
    if method is None:
        raise NotFound("method not found")
    return method


async def run(box: Sandbox, name: str, params: Params) -> Any:  # noqa: ANN401  each method has its own result
    """Run a method and return its `result`.

    Raises:
        ApiError: the call is rejected.
    """
    method = find_method(name)
    if box.logged_out:
        raise BadRequest("logged out")
    return await method(box, params)
