"""What payers see of a link: who asks, in their own words, the price, and why it can't be paid.

No screen has the whole number.
"""

from collections.abc import Mapping
from datetime import tzinfo

from bot.checkout.screens import format_choice
from bot.checkout.steps.review import explain_price
from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader, clip
from bot.infra.telegram.ui.screen import Button, Screen, in_rows
from bot.orders.screens.formatting import format_full_price
from bot.payment_requests.buttons import REASONS, PayAction, PayButton
from bot.payment_requests.model import PaymentRequest, RequestState
from bot.payment_requests.screens import format_note
from bot.payments.tokens import LIGHTNING
from bot.rates.model import Estimate
from bot.recipients.formatting import format_destination, format_full_method, format_method
from bot.recipients.numbers import mask_number
from bot.settlement.errors import MethodVanished
from bot.users.buttons import send_row
from bot.users.screens import SHOW_PHRASE


def show_unknown(t: Translator) -> Screen:
    """Return that a link leads to no request: whether there ever was one isn't said."""
    return Screen(t("payment_requests.pay.unknown"), (send_row(t),))


def show_off(t: Translator) -> Screen:
    """Return that payment requests are switched off."""
    return Screen(t("payment_requests.pay.off"), (send_row(t),))


def show_not_payable(t: Translator, request: PaymentRequest, state: RequestState) -> Screen:
    """Return why a request can't be paid now."""
    why = t(f"payment_requests.pay.{'paused' if state is RequestState.OPEN else state}")
    return Screen(f"{_format_asker(t, request)}\n\n{why}", ((_report_button(t, request),), send_row(t, style=None)))


def show_unpaid(t: Translator, request: PaymentRequest) -> Screen:
    """Return that the payer has an unpaid order of this request, which follows."""
    return Screen(t("payment_requests.pay.unpaid"), (_leave_row(t, request),))


def explain_failure(reader: Reader, request: PaymentRequest, failure: Exception) -> Html:
    """Return why there is no price or no order."""
    if isinstance(failure, Rejection):
        return reader.format_rejection(failure)
    if isinstance(failure, MethodVanished):
        return reader.t("payment_requests.pay.vanished", name=format_method(request.method))
    return reader.t("payment_requests.pay.no_price")


def show_rejection(t: Translator, request: PaymentRequest, why: Html) -> Screen:
    """Return why the payer can't pay this now or has no price, with the button that tries again."""
    return Screen(f"{_format_asker(t, request)}\n\n{why}", (_again_row(t, request), _leave_row(t, request)))


def ask_amount(t: Translator, request: PaymentRequest, minimum: int, choices: Mapping[Amount, Estimate]) -> Screen:
    """Return the question how much the payer wants to send, with common amounts and what they cost."""
    question = t("payment_requests.pay.ask_amount", minimum=t.rupiah(minimum))
    buttons = [
        Button(
            format_choice(t, amount, estimated, LIGHTNING),
            data=PayButton(request.id, PayAction.REVIEW, estimated.idr).pack(),
        )
        for amount, estimated in choices.items()
    ]
    parts = (_format_asker(t, request), t("payment_requests.pay.trust"), question)
    return Screen("\n\n".join(parts), (*in_rows(buttons, 1), _leave_row(t, request)))


def show_review(
    t: Translator, request: PaymentRequest, estimated: Estimate, zone: tzinfo, *, review: str, phrase: str | None = None
) -> Screen:
    """Return the review before the one confirmation. `phrase` is the one that a first invoice will have."""
    figures = t(
        "checkout.review.figures",
        amount=t.rupiah(estimated.idr),
        pay=t.plain("checkout.review.about", amount=format_full_price(t, estimated.sats, LIGHTNING)),
    )
    data = PayButton(request.id, PayAction.CONFIRM, estimated.idr, estimated.sats, review).pack()
    confirm = Button(t.plain("checkout.review.confirm"), data=data, style="success")
    other = Button(t.plain("payment_requests.pay.other_amount"), data=PayButton(request.id, PayAction.SHOW).pack())
    words = Button(t.plain("checkout.button.other_words"), data=SHOW_PHRASE)
    more = (*((other,) if request.idr is None else ()), *((words,) if phrase is not None else ()))
    price = explain_price(t, estimated, zone, phrase)
    parts = (_format_asker(t, request), figures, t("payment_requests.pay.trust"), price)
    return Screen("\n\n".join(parts), ((confirm,), *((more,) if more else ()), _leave_row(t, request)))


def ask_why(t: Translator, request: PaymentRequest) -> Screen:
    """Return the question why the payer reports the request. Nothing is reported before the answer."""
    labels = {reason: f"payment_requests.report.{reason}" for reason in REASONS} | {PayAction.SHOW: "users.button.back"}
    rows = tuple((Button(t.plain(label), data=PayButton(request.id, to).pack()),) for to, label in labels.items())
    text = f"{_format_asker(t, request)}\n\n{t('payment_requests.report.why')}"
    return Screen(text, (*rows, (_cancel_button(t, request),)))


def show_reported(t: Translator, request: PaymentRequest, said: Html) -> Screen:
    """Return what became of the report."""
    return Screen(f"{_format_asker(t, request)}\n\n{said}")


def show_cancelled(t: Translator) -> Screen:
    """Return that the payer has left a link. An order can exist already."""
    return Screen(t("payment_requests.pay.cancelled"), (send_row(t, style=None),))


def show_payment(t: Translator, kind: str, request: PaymentRequest, idr: int) -> Screen:
    """Return what the asker hears of a payment. `kind` is a `LinkNotification`."""
    line = t(
        "payment_requests.paid.line",
        amount=t.rupiah(idr),
        destination=format_destination(request.method, request.number),
        note=format_note(t, request.note),
    )
    return Screen(t(f"payment_requests.{kind.removeprefix('payment_request_')}", line=line))


def _format_asker(t: Translator, request: PaymentRequest) -> str:
    """Return who asks and for what, as their own words, and where the rupiah go."""
    note = Html(f"\n{t('payment_requests.pay.note', note=clip(request.note))}") if request.note else Html("")
    return t(
        "payment_requests.pay.asker",
        holder=clip(request.holder),
        note=note,
        bank=format_full_method(request.method),
        number=mask_number(request.number),
    )


def _report_button(t: Translator, request: PaymentRequest) -> Button:
    return Button(t.plain("payment_requests.pay.report"), data=PayButton(request.id, PayAction.REPORT).pack())


def _cancel_button(t: Translator, request: PaymentRequest) -> Button:
    return Button(t.plain("checkout.button.cancel"), data=PayButton(request.id, PayAction.CANCEL).pack())


def _leave_row(t: Translator, request: PaymentRequest) -> tuple[Button, ...]:
    return (_report_button(t, request), _cancel_button(t, request))


def _again_row(t: Translator, request: PaymentRequest) -> tuple[Button, ...]:
    data = PayButton(request.id, PayAction.SHOW).pack()
    return (Button(t.plain("orders.button.try_again"), data=data, style="primary"),)
