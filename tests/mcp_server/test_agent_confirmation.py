"""The user is asked before an order is created, if the agent's client can ask."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from mcp import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    ClientCapabilities,
    ElicitationCapability,
    ElicitResult,
    ErrorData,
    FormElicitationCapability,
    InputRequiredResult,
)

from bot.core.money import Amount
from bot.mcp_server.answers import Refusal
from bot.mcp_server.confirmation import Confirmation
from bot.mcp_server.service import AgentRules
from bot.mcp_server.unresolved_orders import Request
from bot.rates.model import estimate
from bot.settlement.model import Quote
from tests.mcp_server.agent_system import BCA, POST, open_agent_system, text_of
from tests.mcp_server.agents_over_http import MODES, agent_tools, call_tool, refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.rates.model import Estimate

NO_ORDER = "No order was created."
YES = ElicitResult(action="accept", content={"createOrder": True})
IN_PROCESS = ("legacy", "auto")
"""A question that is a request, and one that is a result."""

ORDER: dict[str, Any] = {**BCA, "idrAmount": 150_000, "bankAccountName": "Sri  Wahyuningsih"}


@dataclass(slots=True)
class User:
    """The agent's user, who gives the same answer to each question."""

    answer: ElicitResult | ErrorData = field(default_factory=lambda: YES)
    questions: list[str] = field(default_factory=list)
    first: Callable[[], Awaitable[None]] | None = None

    async def __call__(self, context: Any, params: Any) -> ElicitResult | ErrorData:
        del context
        assert params.requested_schema["required"] == ["createOrder"]
        self.questions.append(params.message)
        if self.first is not None:
            await self.first()
        return self.answer


@pytest.mark.parametrize("mode", IN_PROCESS)
async def test_the_user_sees_the_whole_order_before_it_is_created(mode: str) -> None:
    user = User()
    async with open_agent_system("documented", mode=mode, ask=user) as system:
        made = await system.does("create_offramp_order", **ORDER)
        assert await system.posts() == 1
    (question,) = user.questions
    for part in (
        "BANK CENTRAL ASIA",
        "Number: 1234567890",
        "Account holder: Sri Wahyuningsih",
        "Recipient gets: Rp150,000",
        f"You pay: about {made['satAmount']:,} sats (Lightning). ",
        "can't be reversed",
        "Nomor: 1234567890",
        "Pemilik rekening: Sri Wahyuningsih",
        "Penerima mendapat: Rp150.000",
        f"Kamu membayar: sekitar {made['satAmount']:,} sats (Lightning). Biaya Rp5,000".replace(",", "."),
        "tidak bisa dibatalkan",
    ):
        assert part in question


@pytest.mark.parametrize("mode", IN_PROCESS)
async def test_the_number_is_shown_as_it_was_typed_and_sats_are_exact(mode: str) -> None:
    user = User()
    async with open_agent_system("documented", mode=mode, ask=user) as system:
        gopay = await system.destination("GOPAY")
        order = {"satAmount": 25_000, "recipientDetails": "+6281234567890", "depositChannel": "cbbtc", **gopay}
        await system.does("create_offramp_order", **order)
    (question,) = user.questions
    assert "Number: +6281234567890" in question
    assert "Account holder: not given" in question
    assert "Recipient gets: about Rp" in question
    assert "You pay: 0.00025 cbBTC (Base)." in question


@pytest.mark.parametrize("mode", IN_PROCESS)
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ElicitResult(action="decline"), "said no"),
        (ElicitResult(action="cancel"), "closed the question"),
        (ElicitResult(action="accept", content={"createOrder": False}), "said no"),
        (ElicitResult(action="accept", content={"createOrder": "true"}), "said no"),
        (ElicitResult(action="accept", content={}), "said no"),
        (ElicitResult(action="accept"), "said no"),
    ],
)
async def test_only_a_yes_creates_an_order(mode: str, answer: ElicitResult, said: str) -> None:
    async with open_agent_system("documented", mode=mode, ask=User(answer)) as system:
        text = await system.fails("create_offramp_order", **ORDER)
        assert said in text
        assert NO_ORDER in text
        assert await system.posts() == 0


async def test_a_client_that_fails_to_ask_creates_nothing() -> None:
    broken = ErrorData(code=INTERNAL_ERROR, message="no window")
    async with open_agent_system("documented", mode="legacy", ask=User(broken)) as system:
        assert NO_ORDER in await system.fails("create_offramp_order", **ORDER)
        assert await system.posts() == 0
    async with open_agent_system("documented", ask=User(broken)) as system:
        with pytest.raises(MCPError):
            await system.call("create_offramp_order", **ORDER)
        assert await system.posts() == 0


async def test_a_user_who_never_answers_is_waited_for_until_a_limit() -> None:
    never = asyncio.Event()

    async def wait() -> None:
        await never.wait()

    rules = AgentRules(network="bcrt", answer_within_seconds=0.05)
    async with open_agent_system("documented", mode="legacy", ask=User(first=wait), rules=rules) as system:
        text = await system.fails("create_offramp_order", **ORDER)
        assert "didn't answer in time" in text
        assert NO_ORDER in text
        assert await system.posts() == 0


async def test_a_late_answer_to_a_question_in_a_result_counts_for_nothing() -> None:
    user = User()
    async with open_agent_system("documented", ask=user) as system:

        async def wait() -> None:
            system.service.clock.now += timedelta(seconds=301)

        user.first = wait
        assert "didn't answer in time" in await system.fails("create_offramp_order", **ORDER)
        assert await system.posts() == 0


@pytest.mark.parametrize("mode", IN_PROCESS)
@pytest.mark.parametrize("factor", [0.95, 1.1])
async def test_a_price_that_moved_meanwhile_is_asked_about_again(mode: str, factor: float) -> None:
    user = User()
    async with open_agent_system("documented", mode=mode, ask=user) as system:
        rate = (await system.does("get_btc_idr_quote"))["btcIdr"]

        async def wait() -> None:
            system.service.clock.now += timedelta(seconds=60)
            await system.service.control(POST, "/quote", btcIdr=rate * factor)

        user.first = wait
        text = await system.fails("create_offramp_order", **ORDER)
        assert "The price moved by" in text
        assert NO_ORDER in text
        assert await system.posts() == 0
        user.first = None
        await system.does("create_offramp_order", **ORDER)
    assert len(user.questions) == 2
    assert user.questions[0] != user.questions[1]


async def test_a_yes_counts_once_and_for_the_last_question_only() -> None:
    async with open_agent_system("documented", ask=User()) as system:

        async def ask() -> str:
            asked = await system.agent.session.call_tool("create_offramp_order", ORDER, allow_input_required=True)
            assert isinstance(asked, InputRequiredResult)
            assert asked.request_state
            return asked.request_state

        async def say_yes(state: str, **changes: Any) -> Any:
            return await system.agent.session.call_tool(
                "create_offramp_order",
                ORDER | changes,
                input_responses={"confirmation": YES},
                request_state=state,
                allow_input_required=True,
            )

        first, second = await ask(), await ask()
        assert "no longer open" in text_of(await say_yes(first))
        with pytest.raises(MCPError):
            await say_yes(second, idrAmount=1_500_000)
        assert await system.posts() == 0
        assert not (await say_yes(second)).is_error
        await system.does("list_offramp_orders")
        assert "no longer open" in text_of(await say_yes(second))
        assert await system.posts() == 1


async def test_an_answer_that_is_missing_creates_nothing() -> None:
    async with open_agent_system("documented", ask=User()) as system:
        call = system.agent.session.call_tool
        asked = await call("create_offramp_order", ORDER, allow_input_required=True)
        assert isinstance(asked, InputRequiredResult)
        result = await call("create_offramp_order", ORDER, request_state=asked.request_state, allow_input_required=True)
        assert NO_ORDER in text_of(result)  # type: ignore[arg-type]
        assert await system.posts() == 0


@pytest.mark.parametrize("mode", MODES)
async def test_over_http_clients_of_the_newest_protocol_are_asked(mode: str) -> None:
    user = User(ElicitResult(action="decline"))
    is_asked = mode != "legacy"
    async with agent_tools() as tools, tools.client(mode, ask=user) as client:
        if is_asked:
            assert NO_ORDER in await refused(client, "create_offramp_order", **ORDER)
            assert await tools.service.orders_made() == 0
            user.answer = YES
        assert (await call_tool(client, "create_offramp_order", **ORDER))["bolt11"]
        assert await tools.service.orders_made() == 1
    assert len(user.questions) == (2 if is_asked else 0)


async def test_a_yes_is_bound_to_exactly_the_text_that_was_shown() -> None:
    seconds, request = (lambda: 0.0), Request("014", "BCA", "1234567890", Amount("IDR", 150_000), "lightning")
    expected = estimate(Amount("IDR", 150_000), Quote(Decimal(10**9), datetime(2026, 11, 21, tzinfo=UTC)))

    def shown(holder: str) -> Callable[[Estimate], str]:
        return lambda price: f"{holder} gets {price.idr} for {price.sats}"

    asked = Confirmation(seconds, 300)
    other = replace(expected, sats=expected.sats + 1)
    for again, says in (("Mallory", "no longer open"), ("Sari", "")):
        question = await asked.ask(a_context(), request, shown("Sari"), expected)
        assert isinstance(question, InputRequiredResult)
        answer = a_context(state=question.request_state)
        if says:
            with pytest.raises(Refusal, match=says):
                await asked.ask(answer, request, shown(again), other)
        else:
            assert await asked.ask(answer, request, shown(again), other) == expected


def a_context(state: str | None = None) -> Any:
    """Return what the SDK says of a call by a client that can ask, with a yes if there is a state."""
    able = ClientCapabilities(elicitation=ElicitationCapability(form=FormElicitationCapability()))
    answers = {"confirmation": YES} if state else None
    return SimpleNamespace(
        request_state=state, input_responses=answers, client_capabilities=able, protocol_version="2026-07-28"
    )
