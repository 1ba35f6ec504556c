"""The server: its name, instructions, tools, resources and prompts, and how it reports errors."""

import base64
import inspect
import itertools
import json
import traceback
from collections.abc import Awaitable, Callable
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Final

import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_PARAMS, CallToolResult, GetPromptResult, Icon, InputRequiredResult, ToolAnnotations
from pydantic import Field, ValidationError

import bot
from bot.infra.logging import bind_fields
from bot.mcp_server.answers import Refusal, error_result, join_words, no_effect_text, read_failure, to_content
from bot.mcp_server.arguments import describe_faults, find_unknown_arguments
from bot.mcp_server.order_creation import OrderCreation
from bot.mcp_server.orders import OrderOut, OrderTools
from bot.mcp_server.payments import shown_payment
from bot.mcp_server.rates import RateTools, methods_out
from bot.mcp_server.service import Service
from bot.payments.tokens import SYMBOLS, TOKENS
from bot.settlement.errors import OrderNotFound, SettlementFailure

TITLE: Final = "Kirim: send rupiah"
DESCRIPTION: Final = "Sends Indonesian rupiah to a bank account or e-wallet, paid in bitcoin over Lightning."
ICON_FILE: Final = Path(bot.__file__).parent / "orders/pay_page/static/icon.svg"

INSTRUCTIONS = f"""\
Sends Indonesian rupiah (IDR) to a bank account or e-wallet in Indonesia, paid in bitcoin over Lightning (or with \
{join_words(SYMBOLS, "or")}).
1. Call list_payout_methods first; choose the entry of the user's destination and keep its bankCode and bankName.
2. Optionally call get_btc_idr_quote to show the rate.
3. Before calling create_offramp_order, get the user's explicit confirmation of destination, number and amount. \
Pass bankCode as partnerBankCode and bankName as partnerBankName, unchanged, the recipient's number as a string, and \
exactly one of idrAmount and satAmount. It returns a bolt11 invoice, or deposit instructions for {join_words(TOKENS)}. \
The user must pay it before it expires.
4. Call get_offramp_order about every 5 seconds (or wait_for_offramp_order) until state is COMPLETED or FAILED.
Every create_offramp_order call creates a new order. If the outcome is unknown, call list_offramp_orders and ask the \
user. Never just retry."""

TOKEN_WORDS = {
    "tokens": join_words(token.english_name for token in TOKENS.values()),
    "token_codes": ", ".join(TOKENS),
}

METHODS_URI = "kirim://payout-methods"
ORDER_URI = "kirim://orders/{orderId}"
JSON = "application/json"

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=True)
CREATES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)
"""Creating an order only adds one.

Nothing is changed, and nothing is spent until it is paid. Two calls create two orders.
"""

Messages = MemoryObjectReceiveStream[SessionMessage | Exception]
Replies = MemoryObjectSendStream[SessionMessage]
Tool = Callable[..., Awaitable[CallToolResult | InputRequiredResult]]

CALL_NUMBERS: Final = itertools.count(1)

log = structlog.get_logger(__name__)


class AgentServer(MCPServer[Any]):
    """The SDK's server with safe errors: they say what to do, and neither repeat nor log what was sent.

    All log lines of a call have its number in this process, as `call`, and its tool.
    """

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Return the tool's answer, or an error as an answer."""
        tool = next((tool for tool in await self.list_tools() if tool.name == name), None)
        if tool is None:
            return error_result("This tool doesn't exist. Call tools/list to see the tools.")
        # A misspelt argument must not be ignored when an order is created.
        unknown = find_unknown_arguments(arguments, tool.input_schema) if tool.annotations == CREATES else []
        if unknown:
            known = ", ".join(tool.input_schema["properties"])
            return error_result(f"{name} has only these arguments: {known}. {no_effect_text(name)} Send no others.")
        # The client's own id of the request can be any text, so it isn't logged.
        with bind_fields(call=next(CALL_NUMBERS), tool=name):
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                return _error_answer(error, name)

    async def run_over(self, messages: Messages, replies: Replies) -> None:
        """Serve one client over a pair of streams until it sends no more messages."""
        # A private name of the SDK: no public method runs on streams that the caller supplies.
        await self._lowlevel_server.run(messages, replies, self._lowlevel_server.create_initialization_options())

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Return the prompt. Report a client's mistake as such, not as an internal error."""
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError:
            message = "This prompt doesn't exist, or it doesn't accept these arguments. See prompts/list."
            raise MCPError(code=INVALID_PARAMS, message=message) from None


def _error_answer(error: ToolError, name: str) -> CallToolResult:
    match error.__cause__:
        case Refusal() as refusal:
            return error_result(str(refusal))
        case SettlementFailure() as failure if name != "create_offramp_order":
            return error_result(read_failure(failure))
        case ValidationError() as invalid if type(error) is ToolError:
            return error_result(describe_faults(invalid, name))
        case cause:
            # An internal error: log where it happened, without its text, which can hold personal data.
            frames = traceback.extract_tb(cause.__traceback__ if cause else None)
            where = [f"{frame.filename}:{frame.lineno}" for frame in frames[-5:]]
            log.error("tool_failed", error=type(cause).__name__, where=where)
            return error_result(f"{name} failed because of an error in this server. {_after(name)}")


def _after(name: str) -> str:
    if name == "create_offramp_order":
        return "An order may exist. Call list_offramp_orders before anything else, and tell your user."
    return "Nothing was changed."


def create_server(service: Service, *, name: str, version: str) -> AgentServer:
    """Return a server that isn't connected yet."""
    # The tools never change, so there is nothing to subscribe to and no stream to keep open.
    server = AgentServer(
        name=name,
        title=TITLE,
        description=DESCRIPTION,
        version=version,
        website_url=find_website(),
        icons=[load_icon()],
        instructions=INSTRUCTIONS,
        subscriptions=False,
    )
    rates, creation, orders = RateTools(service), OrderCreation(service), OrderTools(service)
    _add_tool(server, rates.get_btc_idr_quote, "Get the BTC/IDR rate", READS)
    _add_tool(server, rates.list_payout_methods, "List banks and e-wallets", READS)
    _add_tool(server, rates.get_deposit_rails, "List the ways to pay", READS)
    _add_tool(server, rates.get_platform_stats, "Get the service's statistics", READS)
    _add_tool(server, creation.create_offramp_order, "Create an order", CREATES)
    _add_tool(server, orders.get_offramp_order, "Get an order", READS)
    _add_tool(server, orders.list_offramp_orders, "List orders", READS)
    _add_tool(server, orders.wait_for_offramp_order, "Wait for an order", READS)
    _add_resources(server, service)
    server.prompt(
        name="send_rupiah",
        title="Send rupiah",
        description="Send rupiah to an Indonesian bank account or e-wallet, step by step.",
    )(send_rupiah)
    return server


def load_icon() -> Icon:
    """Return the icon, as data. It is an SVG of 200 bytes, because newer clients get it with each answer."""
    data = base64.b64encode(ICON_FILE.read_bytes()).decode()
    return Icon(src=f"data:image/svg+xml;base64,{data}", mime_type="image/svg+xml", sizes=["any"])


def find_website() -> str | None:
    """Return the address of the repository, or None if the package was built without it, or isn't installed."""
    try:
        urls = metadata.metadata("kirim").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    named = dict(url.split(", ", 1) for url in urls)
    return named.get("Repository")


def _add_tool(server: MCPServer[Any], tool: Tool, title: str, annotations: ToolAnnotations) -> None:
    # Agents read the docstring, so it is written for them. `TOKEN_WORDS` fills in the tokens.
    description = (inspect.getdoc(tool) or "").format_map(TOKEN_WORDS)
    server.add_tool(tool, title=title, description=description, annotations=annotations)


def _add_resources(server: MCPServer[Any], service: Service) -> None:
    """Add the resources to `server`."""

    async def payout_methods() -> str:
        try:
            return json.dumps(to_content(methods_out(await service.methods(), service.rules)))
        except SettlementFailure as error:
            raise ResourceError(read_failure(error)) from None

    async def order(orderId: str) -> str:
        try:
            found = await service.order(orderId)
        except (OrderNotFound, Refusal):
            raise ResourceNotFoundError("This server has no order with this id.") from None
        except SettlementFailure as error:
            raise ResourceError(read_failure(error)) from None
        return json.dumps(to_content(OrderOut.from_order(found, await shown_payment(service, found))))

    server.resource(
        METHODS_URI,
        name="payout_methods",
        title="Payout methods",
        description="The banks and e-wallets that rupiah can be sent to, live.",
        mime_type=JSON,
    )(payout_methods)
    server.resource(
        ORDER_URI,
        name="order",
        title="Order",
        description="One order's record, as get_offramp_order returns it.",
        mime_type=JSON,
    )(order)


def send_rupiah(
    amount: Annotated[str, Field(description="How much, such as 150000 rupiah. Optional.")] = "",
    destination: Annotated[str, Field(description="The bank or e-wallet, such as BCA or GoPay. Optional.")] = "",
) -> str:
    """Return the instructions for the agent. It asks the user for the recipient's number and name."""
    task = " ".join(part for part in ("Send", amount or "rupiah", f"to {destination}" if destination else "") if part)
    return "\n".join(
        [
            f"{task}. Go step by step:",
            "1. Call list_payout_methods and choose the entry that I mean; ask me if several fit.",
            "2. Ask me for what is missing: account or mobile number, amount, and the holder's name if I know it.",
            "3. Call get_btc_idr_quote and tell me the approximate price.",
            "4. Repeat destination, number and amount, and wait until I confirm.",
            "5. Call create_offramp_order once, with includeQr, and show me how to pay and by when.",
            "6. Call wait_for_offramp_order until it is COMPLETED or FAILED, and tell me each step.",
            "If the outcome of step 5 is unknown, call list_offramp_orders and ask me. Don't create another order.",
        ]
    )
