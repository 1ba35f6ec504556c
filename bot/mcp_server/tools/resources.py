"""Resources that a client can read without calling a tool: the list of destinations, and an order. And its prompts."""

import json
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from pydantic import Field

from bot.mcp_server.service import Service
from bot.mcp_server.tools.answers import to_content
from bot.mcp_server.tools.failures import read_failure
from bot.mcp_server.tools.order_output import OrderOut
from bot.mcp_server.tools.rates import methods_out
from bot.mcp_server.tools.shown_payment import shown_payment
from bot.settlement.client import NotFound, SettlementError

METHODS_URI = "kirim://payout-methods"
ORDER_URI = "kirim://orders/{orderId}"
JSON = "application/json"


def add_resources(server: MCPServer, service: Service) -> None:
    """Add the resources to `server`."""

    async def payout_methods() -> str:
        try:
            return json.dumps(to_content(methods_out(await service.methods(), service.rules)))
        except SettlementError as error:
            raise ResourceError(str(read_failure(error))) from None

    async def order(orderId: str) -> str:
        try:
            found = await service.order(orderId)
        except (NotFound, ValueError):
            raise ResourceNotFoundError("This server has no order with this id.") from None
        except SettlementError as error:
            raise ResourceError(str(read_failure(error))) from None
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


def add_prompts(server: MCPServer) -> None:
    """Add the prompt to `server`."""
    server.prompt(
        name="send_rupiah",
        title="Send rupiah",
        description="Send rupiah to an Indonesian bank account or e-wallet, step by step.",
    )(send_rupiah)


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
