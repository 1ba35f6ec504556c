"""The page of an order that only the settlement service knows, and why it can't be shown.

All of it comes from outside. The recipient is masked and no name is shown.
"""

from collections.abc import Iterator
from datetime import datetime

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import clip, quote_input
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.evidence import PAYOUT_REFERENCE, last_value
from bot.orders.screens.formatting import format_channel
from bot.payments.tokens import LIGHTNING, TOKENS
from bot.recipients.formatting import format_destination
from bot.settlement.model import KeyRefused, OrderNotFound, OrderReport, SettlementFailure, SlowDown
from bot.settlement.steps import FAILED, STEP_OF_STATE, OrderStep
from bot.support.buttons import LookupButton, LookupPage
from bot.support.cases.screens.case import reveal_button
from bot.support.lookup.screens.orders import COLUMNS, format_service_order_line, order_buttons
from bot.support.service_orders import ServiceOrder

STATUS_KEYS = {
    OrderStep.CREATED: "orders.status.created",
    OrderStep.PAID: "orders.status.paid",
    OrderStep.CONVERTING: "orders.status.converting",
    OrderStep.SENDING: "orders.status.sending",
    OrderStep.SENT: "orders.status.sent",
}
UNKNOWN = "?"
"""Shown for an amount that the record doesn't have."""

LONGEST_WAIT = 3600.0
"""Seconds that are shown, whatever the service asks for."""

LONGEST_STATE = 32
"""Characters of a state that nobody documented."""


def show_service_order(reader: Reader, order: ServiceOrder) -> Screen:
    """Return the page: whose order it is, its status, amount and masked recipient, and the service's times."""
    t, report = reader.t, order.report
    if report is None:
        return Screen(format_service_order_line(t, order))
    parts = (_origin(t, order), "\n".join(_facts(reader, order, report)), "\n".join(_times(reader, order, report)))
    return Screen("\n\n".join(part for part in parts if part), _keyboard(t, order))


def explain_failure(t: Translator, service_id: str, failure: SettlementFailure) -> Screen:
    """Explain why the service's order can't be shown, with a button to try again."""
    again = Button(t.plain("orders.button.try_again"), data=LookupButton(LookupPage.SERVICE_ORDER, service_id).pack())
    match failure:
        case OrderNotFound():
            text = t("support.service_order.not_found", id=service_id)
        case SlowDown():
            text = t("support.service_order.too_many")
            if failure.retry_after:
                wait = t.measured(min(failure.retry_after, LONGEST_WAIT))
                text = t("support.service_order.wait", duration=wait)
        case KeyRefused():
            text = t("support.service_order.key_refused")
        case _:
            text = t("support.service_order.down")
    return Screen(text, ((again,),))


def _origin(t: Translator, order: ServiceOrder) -> Html:
    """Return whether the order can be one of ours."""
    if not order.lost:
        return t("support.service_order.not_ours")
    if order.is_of_deleted_user:
        return t("support.service_order.forgotten")
    references = ", ".join(f"<code>{each.reference}</code>" for each in order.lost)
    return t("support.service_order.lost", references=Html(references))


def _facts(reader: Reader, order: ServiceOrder, report: OrderReport) -> Iterator[Html]:
    t = reader.t
    yield _status(t, report)
    amount = t.rupiah(report.idr) if report.idr is not None else UNKNOWN
    where = format_destination(order.method, "" if order.is_of_deleted_user else order.number)
    yield t("support.service_order.amount", amount=amount, destination=where)
    if order.is_masked and not order.is_of_deleted_user:
        yield t("support.service_order.masked")
    yield t("support.case.service_id", id=order.service_id)
    reference = last_value(order.evidence, PAYOUT_REFERENCE)
    if reference is not None:
        yield t("orders.payout_reference", id=str(reference))
    sats = t.sats(report.sats) if report.sats is not None else UNKNOWN
    key = "support.case.paid" if report.paid_at is not None else "support.case.price"
    yield t(key, sats=sats, channel=_channel(t, report.channel or LIGHTNING))


def _times(reader: Reader, order: ServiceOrder, report: OrderReport) -> Iterator[Html]:
    """Return the times that the service reports, by its clock, and when we read the record, by ours."""
    t = reader.t

    def when(moment: datetime) -> str:
        return reader.format_time(moment, round_up=False)

    times = {
        "created": report.created_at,
        "paid": report.paid_at,
        "updated": report.updated_at,
        "completed": report.completed_at,
    }
    for name, moment in times.items():
        if moment is not None:
            yield t(f"support.service_order.{name}", at=when(moment))
    if order.read_at is not None:
        yield t("support.service_order.read", at=t.seconds(order.read_at, reader.zone))


def _status(t: Translator, report: OrderReport) -> Html:
    """Return the status in words, and the service's own word. A state that nobody documented has only that."""
    state = clip(quote_input(report.state), LONGEST_STATE)
    step = STEP_OF_STATE.get(report.state)
    key = _failure_key(report) if report.state == FAILED else None if step is None else STATUS_KEYS[step]
    if key is None:
        return t("support.service_order.state", state=state)
    return t("support.case.state", what=t(key), state=state)


def _failure_key(report: OrderReport) -> str:
    """Return the status of a failed order. For a deposit, the service records no time of the payment."""
    if report.paid_at is not None:
        return "orders.status.failed_paid"
    is_lightning = (report.channel or LIGHTNING) == LIGHTNING
    return "orders.status.failed_unpaid" if is_lightning else "orders.status.failed_unknown"


def _channel(t: Translator, channel: str) -> str:
    return format_channel(t, channel) if channel in {LIGHTNING, *TOKENS} else quote_input(channel)


def _keyboard(t: Translator, order: ServiceOrder) -> Keyboard:
    evidence = LookupButton(LookupPage.SERVICE_EVIDENCE, order.service_id).pack()
    refresh = LookupButton(LookupPage.SERVICE_ORDER, order.service_id).pack()
    reveal = (reveal_button(t, order.reference),) if order.has_recipient else ()
    last_row = (
        *((Button(t.plain("support.evidence.button"), data=evidence),) if order.evidence else ()),
        Button(t.plain("orders.button.refresh"), data=refresh),
    )
    return tuple(row for row in (*order_buttons(order.lost[:COLUMNS]), reveal, last_row) if row)
