"""Messages about an order: what happened, whether money left the wallet, what the user can do, and what answers them.

The status message arrives with the payment, and is edited at each step until the order is sent. Before the payment, the
message to pay with shows the status. The status message then answers those who ask for it.

We promise nothing that only the service decides. Its answers don't say what happens to the money of a failed order, so
support has to find out.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader, clip
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.orders.buttons import NEWEST, HistoryButton, OrderAction
from bot.orders.notifications import OrderNotification
from bot.orders.order import Failure, HoldReason, Order, OrderStatus, Phase
from bot.orders.poll_intervals import payable_until
from bot.orders.screens.formatting import (
    explain_refusal,
    format_failed_payout_policy,
    format_order_line,
    format_payout_reference,
    format_price,
    format_sent,
    order_button,
    repeat_button,
)
from bot.orders.screens.order_lists import status_emoji, status_key
from bot.rates.model import price_drift_percent
from bot.recipients.formatting import format_destination, format_method, group_digits, kind_key
from bot.settlement.errors import MethodVanished
from bot.settlement.model import COMPLETED, FAILED, OrderStep
from bot.users.buttons import send_row

ANSWERS = {
    OrderNotification.PRICE_MOVED: (
        ("orders.button.accept_price", OrderAction.ACCEPT),
        ("orders.button.no_thanks", OrderAction.DROP),
    ),
    OrderNotification.RECIPIENT_MASKED: (
        ("orders.button.found_is_mine", OrderAction.ACCEPT),
        ("orders.button.found_not_mine", OrderAction.DROP),
    ),
    OrderNotification.UNRESOLVED: (
        ("orders.button.try_again", OrderAction.TRY_AGAIN),
        ("orders.button.drop", OrderAction.DROP),
    ),
}
"""The two answers to each question: the key of the label, and the action."""

QUESTION_OF = {
    HoldReason.PRICE_CHANGED: OrderNotification.PRICE_MOVED,
    HoldReason.RECIPIENT_MASKED: OrderNotification.RECIPIENT_MASKED,
}
"""The question that the user is asked, by its reason."""


def show_notification(
    kind: OrderNotification,
    reader: Reader,
    order: Order,
    *,
    help_offered: bool,
    staff_notified: bool = False,
    policy_url: str = "",
    ticket: Screen | None = None,
) -> Screen:
    """Return the message. It always says which order it is about.

    `staff_notified` says whether the staff are notified of payments without a payout. `policy_url` is the address of
    the policy on failed payouts, if there is one. `ticket` is what is said about the ticket that was opened for a
    payment problem.
    """
    if is_payment_problem(kind, order):
        problem = _payment_problem(kind, reader, order, help_offered=help_offered, staff_notified=staff_notified)
        if ticket is not None:
            problem = Screen(f"{_describe_payment(kind, reader, order)}\n\n{ticket.text}", ticket.keyboard)
        if kind is not OrderNotification.FAILED:
            return problem
        nothing = reader.t("orders.asked.nothing_needed")
        more = (nothing, *format_payout_reference(reader.t, order), *format_failed_payout_policy(reader.t, policy_url))
        return replace(problem, text="\n\n".join((problem.text, *more)))
    return Screen(_text(kind, reader, order), _keyboard(kind, reader, order, help_offered=help_offered))


def show_status_or_question(reader: Reader, order: Order, *, help_offered: bool, is_explained: bool = False) -> Screen:
    """Return the status message of an order, or the question or result that takes its place.

    `is_explained` is as in `show_status`.
    """
    match order.status(reader.now):
        case OrderStatus.PLACING:
            t = reader.t
            return Screen(t("orders.placing", line=format_order_line(t, order)))
        case OrderStatus.CHECKING:
            kind = OrderNotification.CHECKING
        case OrderStatus.UNRESOLVED:
            kind = OrderNotification.UNRESOLVED
        case OrderStatus.NEEDS_CONFIRMATION | OrderStatus.OFFER_OVER:
            kind = QUESTION_OF[order.hold_reason or HoldReason.PRICE_CHANGED]
        case OrderStatus.REFUSED:
            kind = OrderNotification.REFUSED
        case OrderStatus.CLOSED:
            t = reader.t
            return Screen(t("orders.dropped", line=format_order_line(t, order)), (send_row(t),))
        case _:
            return show_status(reader, order, help_offered=help_offered, is_explained=is_explained)
    return show_notification(kind, reader, order, help_offered=help_offered)


def _text(kind: OrderNotification, reader: Reader, order: Order) -> Html:
    t = reader.t
    line = format_order_line(t, order)
    match kind:
        case OrderNotification.PRICE_MOVED | OrderNotification.RECIPIENT_MASKED:
            is_over = order.is_offer_over(reader.now)
            return t("orders.notification.offer_over", line=line) if is_over else _question(kind, t, order, line)
        case OrderNotification.REFUSED | OrderNotification.OUTSIDE_LIMITS | OrderNotification.DEPOSIT_TAKEN:
            return _explain_no_invoice(kind, t, order, line)
        case OrderNotification.FAILED:
            return t("orders.notification.failed_unpaid", line=line)
        case _:
            return t(f"orders.notification.{kind}", line=line)


def _question(kind: OrderNotification, t: Translator, order: Order, line: Html) -> Html:
    sats, idr = order.sats or 0, order.idr or 0
    if kind is OrderNotification.RECIPIENT_MASKED:
        # Its price may have changed as well. Users who say that the order is theirs agree to the price shown here.
        return t(
            "orders.notification.recipient_masked",
            line=line,
            sats=format_price(t, sats, order.channel),
            idr=t.rupiah(idr),
            reviewed=format_price(t, order.expected_sats, order.channel),
            reviewed_idr=t.rupiah(order.expected_idr),
            number=group_digits(order.payer_number),
        )
    drift = price_drift_percent(expected_sats=order.expected_sats, expected_idr=order.expected_idr, sats=sats, idr=idr)
    return t(
        "orders.notification.price_too_good" if drift < 0 else "orders.notification.price_moved",
        line=line,
        reviewed=format_price(t, order.expected_sats, order.channel),
        reviewed_idr=t.rupiah(order.expected_idr),
        locked=format_price(t, sats, order.channel),
        locked_idr=t.rupiah(idr),
    )


def _explain_no_invoice(kind: OrderNotification, t: Translator, order: Order, line: Html) -> Html:
    cap, locked = order.method.cap, order.idr or 0
    if kind is OrderNotification.DEPOSIT_TAKEN:
        return t("orders.notification.deposit_taken", line=line, sats=format_price(t, order.sats or 0, order.channel))
    if kind is OrderNotification.OUTSIDE_LIMITS and cap == 0:
        return t("orders.notification.destination_closed", line=line, name=format_method(order.method))
    if kind is OrderNotification.OUTSIDE_LIMITS and cap is not None and locked > cap:
        return t(
            "orders.notification.locked_above_cap",
            line=line,
            idr=t.rupiah(locked),
            cap=cap,
            name=format_method(order.method),
        )
    if kind is OrderNotification.OUTSIDE_LIMITS:
        return t("orders.notification.locked_below_minimum", line=line, idr=t.rupiah(locked))
    if not order.payer_refusal:
        return t("orders.notification.refused", line=line)
    return t("orders.notification.refused_because", line=line, reason=explain_refusal(t, order.payer_refusal.strip()))


def _keyboard(kind: OrderNotification, reader: Reader, order: Order, *, help_offered: bool) -> Keyboard:
    def button(label: str, action: OrderAction, style: Style | None = None) -> Button:
        return order_button(reader.t, order, label, action, style)

    match kind:
        case OrderNotification.PRICE_MOVED | OrderNotification.RECIPIENT_MASKED if order.is_offer_over(reader.now):
            return ((repeat_button(reader.t, order, "orders.button.requote", OrderAction.REQUOTE, "primary"),),)
        case OrderNotification.PRICE_MOVED | OrderNotification.RECIPIENT_MASKED | OrderNotification.UNRESOLVED:
            (yes, action), (no, drop) = ANSWERS[kind]
            return ((button(yes, action, "primary"),), (button(no, drop),))
        case OrderNotification.SUPERSEDED:
            return (send_row(reader.t, style=None),)
        case (
            OrderNotification.REFUSED
            | OrderNotification.NOT_SHOWN
            | OrderNotification.OUTSIDE_LIMITS
            | OrderNotification.DEPOSIT_TAKEN
            | OrderNotification.LINK_PAUSED
            | OrderNotification.OFFER_OVER
        ):
            return ((repeat_button(reader.t, order, "orders.button.back_to_review", OrderAction.REQUOTE, "primary"),),)
        case OrderNotification.CHECKING | OrderNotification.CONVERTING | OrderNotification.SENDING:
            return ()
        case _:
            return build_keyboard(reader, order, help_offered=help_offered)


def is_payment_problem(kind: OrderNotification, order: Order) -> bool:
    """Return whether the order was paid, or may have been, and no rupiah were sent."""
    return kind is OrderNotification.OVERDUE or (
        kind is OrderNotification.FAILED and order.failure is not Failure.UNPAID
    )


def _payment_problem(
    kind: OrderNotification, reader: Reader, order: Order, *, help_offered: bool, staff_notified: bool
) -> Screen:
    """Return the message about a payment problem: what we know, what happens next, and how to reach support."""
    help_button = order_button(reader.t, order, "orders.button.help", OrderAction.HELP)
    without_staff = "orders.notification.ask_a_person" if help_offered else "orders.notification.keep_reference"
    next_step = reader.t("orders.notification.staff_know" if staff_notified else without_staff)
    text = f"{_describe_payment(kind, reader, order)}\n\n{next_step}"
    return Screen(text, ((help_button,),) if help_offered else ())


def _describe_payment(kind: OrderNotification, reader: Reader, order: Order) -> Html:
    t = reader.t
    line = format_order_line(t, order)
    if kind is OrderNotification.FAILED and order.failure is Failure.UNKNOWN:
        paid = format_price(t, order.sats or order.expected_sats, order.channel)
        return t("orders.notification.failed_unknown", line=line, paid=paid)
    failed = "failed_paid_late" if order.expiry_notified else "failed_paid"
    return t(
        f"orders.notification.{kind if kind is OrderNotification.OVERDUE else failed}",
        line=line,
        paid=format_price(t, order.sats or order.expected_sats, order.channel),
        at=reader.format_time(order.paid_at or reader.now, round_up=False),
    )


NOT_SEEN_PAID = frozenset({OrderStatus.EXPIRED, OrderStatus.GIVEN_UP, OrderStatus.FAILED_UNPAID})
"""The statuses in which it is too late to pay. Its user may have paid all the same."""

DONE, NOW, NEXT, BROKEN, OVER = "✅", "⏳", "▫️", "❌", "⌛"


def show_confirmed(t: Translator, order: Order) -> Screen:
    """Return what the confirmed review becomes: one line. Until the service has answered, it says that more follows."""
    key = "orders.review.creating" if order.phase is Phase.INTENDED else "orders.review.confirmed"
    return Screen(t(key, line=format_order_line(t, order)))


def explain_dropped(reader: Reader, order: Order) -> Html:
    """Return that the user has dropped an unpaid order, until when it can be paid all the same, and when it counts."""
    until, free = (reader.format_time(at) for at in (payable_until(order), order.offer_ends_at))
    return reader.t("orders.limits.dropped", line=format_order_line(reader.t, order), until=until, free=free)


def show_ended(reader: Reader, order: Order) -> Screen:
    """Return the one line that is left of the status message of an order that was sent or has failed."""
    t, state, after = reader.t, reader.t(status_key(order, reader.now)), order.sent_after
    if order.state == COMPLETED and after is not None:
        seconds = max(round(after.total_seconds()), 1)
        state = t("orders.status_message.sent_after", duration=t.measured(seconds))
    return Screen(
        t(
            "orders.status_message.ended",
            mark=status_emoji(order, reader.now),
            reference=order.reference,
            amount=t.rupiah(order.idr or order.expected_idr),
            destination=format_destination(order.method, order.number),
            state=state,
        )
    )


def show_status(reader: Reader, order: Order, *, help_offered: bool, is_explained: bool = False) -> Screen:
    """Return the status message, with the buttons for the status. `is_explained`: what it means was said already."""
    t = reader.t
    more = () if is_explained else _explain_further(reader, order)
    text = "\n\n".join((_headline(reader, order), _timeline(reader, order), *more))
    receipt = (
        ((order_button(t, order, "orders.button.receipt", OrderAction.RECEIPT),),)
        if order.state == COMPLETED and order.has_recipient
        else ()
    )
    return Screen(text, (*build_keyboard(reader, order, help_offered=help_offered), *receipt))


def build_keyboard(reader: Reader, order: Order, *, help_offered: bool) -> Keyboard:
    """Return the buttons of the status message, and of most notifications."""
    t = reader.t
    rows: list[tuple[Button, ...]] = []
    if order.may_be_shown(reader.now):
        rows.append((order_button(t, order, "orders.button.show_payment", OrderAction.RESEND_STATUS, "primary"),))
    if may_have_been_paid(order, reader.now):
        rows.append((order_button(t, order, "orders.button.have_paid", OrderAction.REFRESH_STATUS),))
    elif order.phase is Phase.OPEN:
        rows.append((order_button(t, order, "orders.button.refresh", OrderAction.REFRESH_STATUS),))
    if may_have_been_paid(order, reader.now) and order.status(reader.now) is not OrderStatus.GIVEN_UP:
        rows.append((repeat_button(t, order, "orders.button.requote", OrderAction.REQUOTE),))
    if help_offered and (may_need_help(order) or may_have_been_paid(order, reader.now)):
        rows.append((order_button(t, order, "orders.button.help", OrderAction.HELP),))
    if order.state == COMPLETED:
        resend = repeat_button(t, order, "orders.button.resend", OrderAction.RESEND)
        rows.append((resend,) if order.can_be_repeated else send_row(t))
    return tuple(rows)


def may_have_been_paid(order: Order, now: datetime) -> bool:
    """Return whether it is too late to begin to pay, and its user may have paid all the same."""
    return order.status(now) in NOT_SEEN_PAID or (order.awaits_payment(now) and order.is_ending(now))


def may_need_help(order: Order) -> bool:
    """Return whether the user may need support for this order."""
    return order.state == FAILED or (order.is_paid and not order.is_ended)


def _headline(reader: Reader, order: Order) -> str:
    """Return what the order is, and that the payment arrived or the rupiah were sent."""
    t, heading = reader.t, Html(_heading(reader, order))
    match order.status(reader.now):
        case OrderStatus.PAID | OrderStatus.CONVERTING | OrderStatus.SENDING:
            kind = OrderNotification.PAID_LATE if order.expiry_notified else OrderNotification.PAID
            at = reader.format_clock(order.paid_at or reader.now)
            return t(f"orders.notification.{kind}", line=heading, at=at)
        case OrderStatus.SENT:
            return format_sent(t, order, heading)
    return heading


def _explain_further(reader: Reader, order: Order) -> tuple[str, ...]:
    """Return what the status means for the user, unless the headline has said it."""
    match order.status(reader.now):
        case OrderStatus.SENT:
            return ()
        case OrderStatus.PAID | OrderStatus.CONVERTING | OrderStatus.SENDING if not order.is_overdue:
            return ()
    return (explain_status(reader, order),)


def _heading(reader: Reader, order: Order) -> str:
    t = reader.t
    amount, destination = t.rupiah(order.idr or order.expected_idr), format_destination(order.method, order.number)
    heading = t(
        "orders.status_message.heading_named" if order.holder else "orders.status_message.heading",
        amount=amount,
        destination=destination,
        holder=clip(order.holder or ""),
    )
    return "\n".join((heading, *_price(reader, order), t("orders.status_message.reference", reference=order.reference)))


def _price(reader: Reader, order: Order) -> tuple[Html, ...]:
    """Return the line with the price. After an expiry there is none."""
    t, sats = reader.t, format_price(reader.t, order.sats or order.expected_sats, order.channel)
    if order.is_paid:
        return (t("orders.status_message.price_paid", sats=sats),)
    match order.status(reader.now):
        case OrderStatus.FAILED_UNKNOWN | OrderStatus.FAILED_UNPAID:
            return (t("orders.status_message.price_failed", sats=sats),)
        case OrderStatus.EXPIRED | OrderStatus.GIVEN_UP:
            return ()
        case _:
            return (t("orders.status_message.price_to_pay", sats=sats),)


def _timeline(reader: Reader, order: Order) -> str:
    """Return one line for each step. Steps that can no longer be reached are left out."""
    t = reader.t
    reached = max(order.step, OrderStep.PAID) if order.is_paid else order.step
    lines = [f"{DONE} {_name(t, step)}" for step in OrderStep if step < reached]
    if order.has_failed and _is_slow(reached):
        return "\n".join([*lines, f"{BROKEN} <b>{_name(t, reached)}</b>"])
    lines.append(f"{NOW if _is_slow(reached) else DONE} <b>{_name(t, reached)}</b>")
    if order.has_failed:
        return "\n".join([*lines, f"{BROKEN} <b>{t('orders.step.failed')}</b>"])
    if order.status(reader.now) is OrderStatus.EXPIRED:
        return "\n".join([*lines, f"{OVER} <b>{t('orders.step.expired')}</b>"])
    if order.is_given_up:
        return "\n".join(lines)
    if reached is OrderStep.CREATED:
        lines.append(f"{NOW} {t('orders.step.payment')}")
    first = OrderStep.CONVERTING if reached is OrderStep.CREATED else reached + 1
    return "\n".join([*lines, *(f"{NEXT} {_name(t, step)}" for step in OrderStep if step >= first)])


def _is_slow(step: OrderStep) -> bool:
    """Return whether a step takes time. The others are over at once."""
    return step in {OrderStep.CONVERTING, OrderStep.SENDING}


def _name(t: Translator, step: OrderStep) -> Html:
    return t(f"orders.step.{step.name.lower()}")


def explain_status(reader: Reader, order: Order) -> str:
    """Return what the status of a shown order means for its user."""
    t = reader.t
    match order.status(reader.now):
        case OrderStatus.SENT:
            return t(f"orders.status_message.sent_{kind_key(order.method)}", name=format_method(order.method))
        case OrderStatus.FAILED_PAID | OrderStatus.FAILED_UNKNOWN | OrderStatus.FAILED_UNPAID as failed:
            return t(f"orders.status_message.{failed}{'_late' if order.is_paid and order.expiry_notified else ''}")
        case OrderStatus.PAID | OrderStatus.CONVERTING | OrderStatus.SENDING:
            return t("orders.status_message.overdue" if order.is_overdue else "orders.status_message.paid")
        case OrderStatus.EXPIRED | OrderStatus.GIVEN_UP:
            return t("orders.order_page.given_up" if order.is_given_up else "orders.status_message.expired")
    until = order.expires_at
    if order.is_ending(reader.now):
        return t("orders.status_message.ending", at=reader.format_clock(until or reader.now))
    waits = (
        t("orders.status_message.waiting")
        if until is None
        else t("orders.status_message.pay_before", at=reader.format_clock(until))
    )
    return f"{waits}\n{t('orders.status_message.may_not_pay')}"


NEXT_STEPS = {
    OrderStatus.WAITING: "orders.asked.waiting",
    OrderStatus.EXPIRED: "orders.asked.expired",
    OrderStatus.PAID: "orders.asked.paid",
    OrderStatus.CONVERTING: "orders.asked.paid",
    OrderStatus.SENDING: "orders.asked.paid",
    OrderStatus.SENT: "orders.asked.sent",
}
"""What is safe to do now, where the status message doesn't say it."""

CANCEL_ANSWERS = {
    OrderStatus.WAITING: "orders.asked.cancel_unpaid",
    OrderStatus.PAID: "orders.asked.cancel_paid",
    OrderStatus.CONVERTING: "orders.asked.cancel_paid",
    OrderStatus.SENDING: "orders.asked.cancel_paid",
}


def explain_failure(reader: Reader, order: Order, failure: Exception) -> Html:
    """Return why an answer to the question about an order couldn't be used now. The question stays open."""
    if isinstance(failure, Rejection):
        return reader.format_rejection(failure)
    if isinstance(failure, MethodVanished):
        return reader.t("orders.repeat.vanished", name=format_method(order.method))
    return reader.t("orders.cannot_compare" if order.phase is Phase.NEEDS_CONFIRMATION else "orders.cannot_check")


def explain_next_step(reader: Reader, order: Order, reached_by: str) -> Html:
    """Return what is safe to do now for a user who asks where the money is. `reached_by` is how they reach help."""
    if order.failure in {Failure.PAID, Failure.UNKNOWN}:
        return _explain_failed(reader, order, reached_by)
    if order.is_overdue or (order.awaits_payment(reader.now) and order.is_ending(reader.now)):
        return reader.t("orders.asked.newest")
    return reader.t(NEXT_STEPS.get(order.status(reader.now), "orders.asked.newest"))


def _explain_failed(reader: Reader, order: Order, reached_by: str) -> Html:
    """Return what is known about the money of a failed order, what happens next, and that nothing is needed now."""
    t, is_known = reader.t, order.outcome is not None
    known = t("orders.asked.newest" if is_known else f"orders.asked.{order.status(reader.now)}")
    follows = {
        "support": "orders.asked.support_knows" if is_known else "orders.asked.support_asks",
        "contact": "orders.notification.ask_a_person",
        "alone": "orders.notification.keep_reference",
    }[reached_by]
    return Html(f"{known} {t(follows)}\n\n{t('orders.asked.nothing_needed')}")


def explain_cancel(reader: Reader, order: Order) -> Html | None:
    """Return how the order can be cancelled, or None if its status message says it."""
    key = CANCEL_ANSWERS.get(order.status(reader.now))
    return reader.t(key) if key else None


def explain_own_invoice(reader: Reader, order: Order) -> Html:
    """Return what to do with the invoice of this order."""
    return reader.t(
        "orders.asked.own_invoice" if order.awaits_payment(reader.now) else "orders.asked.own_invoice_closed"
    )


def explain_unread(t: Translator, *, help_offered: bool) -> Html:
    """Return that nobody has seen a picture or a file."""
    return t("orders.asked.unread_support" if help_offered else "orders.asked.unread")


def show_answer(reader: Reader, order: Order, *, help_offered: bool, is_explained: bool = False) -> Screen:
    """Return the status message of an order, with the ways to support and to all orders.

    `is_explained` is as in `show_status`.
    """
    shown = show_status_or_question(reader, order, help_offered=help_offered, is_explained=is_explained)
    ask = order_button(reader.t, order, "orders.button.help", OrderAction.HELP)
    has_help = any(button.data == ask.data for row in shown.keyboard for button in row)
    more: Keyboard = ((ask,),) if help_offered and not has_help else ()
    every = Button(reader.t.plain("orders.button.history"), data=HistoryButton(NEWEST).pack())
    return Screen(shown.text, (*shown.keyboard, *more, (every,)))


def show_no_order(t: Translator) -> Screen:
    """Return the answer for a user without orders."""
    return Screen(t("orders.asked.none"), (send_row(t, style=None),))


def show_payee(t: Translator) -> Screen:
    """Return the answer to an LNURL, a Lightning Address or an offer, which Kirim can't pay."""
    return Screen(t("orders.asked.payee"), (send_row(t),))


def show_other_invoice(t: Translator) -> Screen:
    """Return the answer to an invoice that belongs to no order of the user."""
    return Screen(t("orders.asked.other_invoice"), (send_row(t, style=None),))
