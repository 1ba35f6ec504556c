"""Inline queries: answered at once from memory, and never saved in the inbox.

A user causes one with each letter that they type, and Telegram forgets a query after seconds. So only the newest query
of a user is answered, and one that a crash or a failure loses isn't repeated: the next letter asks again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog

from bot.infra.logging import shared_task_context
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.screen import InlineAnswer, InlineQuery

log = structlog.get_logger(__name__)

INLINE_QUERY: Final = "inline_query"
AnswerQuery = Callable[[InlineQuery], Awaitable[InlineAnswer]]

MAX_AT_ONCE: Final = 64
"""Queries that are being answered. More are left out, so that a crowd that types delays nothing else."""

WITHIN_SECONDS: Final = 8.0
"""Telegram no longer accepts an answer after about ten."""


class InlineQueries:
    """Answer inline queries with `answer`."""

    def __init__(self, answer: AnswerQuery, messenger: Messenger) -> None:
        self._find_answer = answer
        self._messenger = messenger
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def submit(self, body: Mapping[str, Any]) -> None:
        """Answer a query in a task of its own. An earlier query of the same user is no longer answered."""
        query = _read(body)
        if query is None:
            return
        earlier = self._tasks.pop(query.user_id, None)
        if earlier is not None:
            earlier.cancel()
        elif len(self._tasks) >= MAX_AT_ONCE:
            return
        task = asyncio.create_task(self._answer(query), name="inline-query", context=shared_task_context())
        self._tasks[query.user_id] = task
        task.add_done_callback(lambda done: self._forget(query.user_id, done))

    async def close(self) -> None:
        """End all answers. Nothing is lost with them."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, user_id: int, task: asyncio.Task[None]) -> None:
        if self._tasks.get(user_id) is task:
            del self._tasks[user_id]
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # Without the exception's text, which can quote what was typed.
            log.warning("inline_query_failed", error=type(error).__name__)

    async def _answer(self, query: InlineQuery) -> None:
        async with asyncio.timeout(WITHIN_SECONDS):
            await self._messenger.answer_inline(query.id, await self._find_answer(query))


def _read(body: Mapping[str, Any]) -> InlineQuery | None:
    """Return the query of an update, or None if it isn't one of a user."""
    sender = body.get("from")
    query_id, text = body.get("id"), body.get("query")
    if not isinstance(sender, dict) or sender.get("is_bot") or not isinstance(sender.get("id"), int):
        return None
    if not isinstance(query_id, str) or not isinstance(text, str):
        return None
    language = sender.get("language_code")
    return InlineQuery(query_id, sender["id"], language if isinstance(language, str) else None, text)
