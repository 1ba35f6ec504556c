"""The question that the user answers before an order is created, if the client can ask it (MCP elicitation).

A client of protocol 2026-07-28 gets the question as the result of its call, and calls again with the answer. So it
works over http without sessions. An older client gets the question as a request while its call runs. That needs a
connection in both directions, so only stdio has it.

Each yes creates one order at most: an answer counts once, in time, and only if the same order wasn't asked about again.
Kept in memory: this server has no database.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least
from pydantic import ValidationError

from bot.core.locales import read_tables
from bot.mcp_server.answers import Refusal, replace_surrogates
from bot.mcp_server.unresolved_orders import Request, drop_oldest
from bot.rates.model import Estimate

ASKED_IN_RESULTS_SINCE: Final = "2026-07-28"
QUESTION: Final = "confirmation"
YES: Final = "createOrder"
FORM: Final = {
    "type": "object",
    "properties": {
        YES: {"type": "boolean", "title": " / ".join(texts["create"] for texts in read_tables("agents").values())}
    },
    "required": [YES],
}
"""It has no default, so a client that sends the form unread doesn't confirm anything."""

DECLINED = "Your user said no to this order. Don't call this tool for it again unless they ask for it."
CANCELLED = "Your user closed the question without an answer. Ask them what they want before you call again."
NOT_ANSWERED = "Your user didn't answer in time. Call again when they are ready: they are then asked again."
NOT_ASKED = "Your client says that it can ask your user to confirm an order, but it gave no answer. Tell your user."
NOT_OPEN = (
    "This answer is for a question that is no longer open: it was answered before, or the same order was asked about "
    "again, or with another text, or this server was restarted. Call again without the answer: your user is then asked "
    "again."
)


@dataclass(frozen=True, slots=True)
class _Question:
    id: str
    text: str
    expected: Estimate
    asked_at: float


class Confirmation:
    """Asks users to confirm orders, and remembers the open questions.

    `seconds` is a monotonic clock. Answers count for `answer_within` seconds.
    """

    def __init__(self, seconds: Callable[[], float], answer_within: float) -> None:
        self._seconds, self._answer_within = seconds, answer_within
        self._open: dict[Request, _Question] = {}

    async def ask(
        self, context: Context, request: Request, describe: Callable[[Estimate], str], expected: Estimate
    ) -> Estimate | InputRequiredResult | None:
        """Return the price that the user said yes to. `describe` returns the question about the order at a price.

        Return None if the client can't ask, or the result that makes it ask and call again.

        Raises:
            Refusal: the answer isn't yes, or there is none in time.
        """
        if context.request_state is not None:
            answer = (context.input_responses or {}).get(QUESTION)
            given = answer if isinstance(answer, ElicitResult) else None
            return self._accept(request, context.request_state, given, describe)
        if not _can_ask(context):
            return None
        question = self._open_question(request, describe(expected), expected)
        form = ElicitRequestFormParams(message=replace_surrogates(question.text), requested_schema=FORM)
        if is_version_at_least(context.protocol_version or "", ASKED_IN_RESULTS_SINCE):
            return InputRequiredResult(input_requests={QUESTION: ElicitRequest(params=form)}, request_state=question.id)
        return self._accept(request, question.id, await self._ask_now(context, form), describe)

    async def _ask_now(self, context: Context, form: ElicitRequestFormParams) -> ElicitResult | None:
        try:
            async with asyncio.timeout(self._answer_within):
                answer: ElicitResult = await context.session.elicit_form(
                    form.message, form.requested_schema, context.request_id
                )
                return answer
        except TimeoutError:
            raise Refusal(NOT_ANSWERED) from None
        except (MCPError, ValidationError):
            # The client rejected the question, answered something else, or is gone.
            return None

    def _open_question(self, request: Request, text: str, expected: Estimate) -> _Question:
        """Remember a question. Only the last one about the same order can be answered."""
        self._open.pop(request, None)
        drop_oldest(self._open)
        question = self._open[request] = _Question(secrets.token_urlsafe(16), text, expected, self._seconds())
        return question

    def _accept(
        self, request: Request, question_id: str, answer: ElicitResult | None, describe: Callable[[Estimate], str]
    ) -> Estimate:
        """Return the price that was asked about, if the answer is yes to exactly this text. Close the question."""
        question = self._open.get(request)
        if question is None or question.id != question_id or question.text != describe(question.expected):
            raise Refusal(NOT_OPEN)
        del self._open[request]
        if self._seconds() - question.asked_at > self._answer_within:
            raise Refusal(NOT_ANSWERED)
        if answer is None:
            raise Refusal(NOT_ASKED)
        if answer.action == "cancel":
            raise Refusal(CANCELLED)
        if answer.action == "decline" or (answer.content or {}).get(YES) is not True:
            raise Refusal(DECLINED)
        return question.expected


def _can_ask(context: Context) -> bool:
    """Return whether the client says that it can show a form. `{}` says so, too: older clients know no other kind."""
    capabilities = context.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
