"""Tools that read orders: one, the newest, and one until it ends."""

import asyncio
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from bot.mcp_server.caller import get_hang_up, has_hung_up
from bot.mcp_server.formats import qr_code
from bot.mcp_server.service import Service
from bot.mcp_server.tools import arguments as args
from bot.mcp_server.tools.answers import Output, Refusal, answer
from bot.mcp_server.tools.failures import read_failure
from bot.mcp_server.tools.order_creation import payment_lines
from bot.mcp_server.tools.order_output import OrderOut, order_line, state_in_words
from bot.mcp_server.tools.payable import NOT_AWAITED
from bot.mcp_server.tools.shown_payment import shown_payment, shown_payments
from bot.mcp_server.unresolved_orders import APPEARS_WITHIN, Listing, Request
from bot.settlement.client import Order, SettlementError, WaitAborted, WaitTimeout, wait_for_order

SLACK_SECONDS = 1.0
MOST_NAMED = 5
NOT_AN_ID = (
    "orderId isn't a valid order id. Send the `orderId` of create_offramp_order, or an `id` of list_offramp_orders."
)


class OrdersOut(Output):
    """The newest orders."""

    orders: list[OrderOut] = Field(description="Newest first. A missing order may still exist.")
    warnings: list[str] = Field(
        default_factory=list, description="Orders with an unknown outcome that this list can't settle; usually empty."
    )


class WaitedOut(OrderOut):
    """An order after waiting for it."""

    timed_out: bool = Field(default=False, description="Whether timeoutSeconds passed before the order ended.")


def unsettled_warning(unknown: list[Request]) -> str:
    """Return which orders still have an unknown outcome after a list was read, and what to do."""
    named = [each.describe() for each in unknown[:MOST_NAMED]]
    more = len(unknown) - len(named)
    return (
        f"The outcome is still unknown of: {'; '.join([*named, *([f'{more} more'] if more else [])])}. This list can't "
        "settle it, so the same order isn't created again. Call list_offramp_orders with limit 100, "
        f"{APPEARS_WITHIN:.0f} seconds or more after the failed call. If more than 100 orders were created since then, "
        "the list doesn't reach back far enough: tell your user to ask the operator of this server."
    )


class OrderTools:
    """The tools that read orders."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def get_offramp_order(
        self,
        orderId: args.OrderId,
        includeQr: args.IncludeQr = False,  # noqa: FBT002  arguments travel by name
    ) -> Annotated[CallToolResult, OrderOut]:
        """Get the state of one order. Call it about every 5 seconds until state is COMPLETED or FAILED.

        COMPLETED means that the rupiah were sent to the bank, which usually shows them within minutes. An order may be
        paid before its state shows it: never tell a user that a payment didn't arrive.
        """
        order = await self._read(orderId)
        return await self._answer(order, OrderOut, include_qr=bool(includeQr))

    async def list_offramp_orders(
        self, limit: args.Limit = args.USUALLY_LISTED
    ) -> Annotated[CallToolResult, OrdersOut]:
        """List the newest orders of this server's account, newest first.

        Call it when the outcome of create_offramp_order is unknown, with limit 100. A missing order may still exist.
        """
        try:
            listing = await self._service.orders(limit or args.USUALLY_LISTED)
        except SettlementError as error:
            raise read_failure(error) from None
        orders = listing.listed.orders
        shown_list = await shown_payments(self._service, orders)
        rows = [OrderOut.from_order(order, shown) for order, shown in zip(orders, shown_list, strict=True)]
        lines = [order_line(order) for order in orders] or [
            "None listed. That proves nothing: a missing order may still exist."
        ]
        warnings = self._settle(listing)
        return answer(
            OrdersOut(orders=rows, warnings=warnings),
            "\n".join([f"{len(rows)} {'order' if len(rows) == 1 else 'orders'}, newest first:", *lines, *warnings]),
        )

    def _settle(self, listing: Listing) -> list[str]:
        """Forget the orders that this list settles. Return what to do about the others.

        A list that doesn't reach its caller settles nothing.
        """
        if not has_hung_up():
            self._service.unresolved.finish_listing(listing)
        unknown = self._service.unresolved.unknown()
        return [unsettled_warning(unknown)] if unknown else []

    async def wait_for_offramp_order(
        self, orderId: args.OrderId, ctx: Context, timeoutSeconds: args.WaitSeconds = args.USUAL_WAIT
    ) -> Annotated[CallToolResult, WaitedOut]:
        """Wait until an order is COMPLETED or FAILED, or until timeoutSeconds. Reports progress.

        Use it instead of calling get_offramp_order repeatedly. Cancelling it doesn't change the order. If timedOut is
        true, the order is still in progress: call again.
        """
        seconds = timeoutSeconds or args.USUAL_WAIT
        watched = _Watched(self._service, ctx, seconds)
        try:
            async with asyncio.timeout(seconds + SLACK_SECONDS):
                ended = await wait_for_order(
                    watched,
                    orderId,
                    timeout=seconds,
                    abort=get_hang_up(),
                    clock=self._service.seconds,
                    sleep=self._service.sleep,
                )
        except (WaitTimeout, TimeoutError):
            if watched.last is None:
                raise Refusal("The order couldn't be read in this time. Nothing was changed. Call again.") from None
            return await self._answer(watched.last, WaitedOut, timed_out=True)
        except WaitAborted:
            raise Refusal("The caller hung up, so waiting for this order ended. Nothing was changed.") from None
        except SettlementError as error:
            raise read_failure(error) from None
        except ValueError:
            raise Refusal(NOT_AN_ID) from None
        return await self._answer(ended, WaitedOut)

    async def _read(self, order_id: str) -> Order:
        try:
            return await self._service.order(order_id)
        except SettlementError as error:
            raise read_failure(error) from None
        except ValueError:
            raise Refusal(NOT_AN_ID) from None

    async def _answer(
        self, order: Order, form: type[OrderOut], *, include_qr: bool = False, timed_out: bool = False
    ) -> CallToolResult:
        shown = await shown_payment(self._service, order)
        payment = shown.payment
        record = form.from_order(order, shown)
        if timed_out:
            record = record.model_copy(update={"timed_out": True})
        lines = [order_line(order)]
        if payment is not None:
            lines += [*shown.warnings, *payment_lines(payment.bolt11, payment.deposit, payment.expires_at)]
        elif include_qr or shown.why_not != NOT_AWAITED:
            lines.append(f"Nothing to pay: {shown.why_not}.")
        return answer(
            record, "\n".join(lines), *([await qr_code(payment.qr_payload)] if include_qr and payment else [])
        )


class _Watched:
    """Read an order for a waiting caller, and report each read to the client."""

    def __init__(self, service: Service, context: Context, seconds: int) -> None:
        self.last: Order | None = None
        self._service, self._context, self._seconds = service, context, seconds
        self._begun = service.seconds()

    async def order(self, order_id: str, *, retry: bool = True) -> Order:  # noqa: ARG002  one reading serves all who wait
        self.last = await self._service.order(order_id)
        passed = min(self._service.seconds() - self._begun, float(self._seconds))
        await self._context.report_progress(passed, self._seconds, state_in_words(self.last.state))
        return self.last
