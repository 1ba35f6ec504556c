"""Resources that a client can read without calling a tool: the list of destinations, and an order."""

import json

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

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
