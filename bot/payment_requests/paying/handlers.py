"""Open links, ask payers for the amount if they decide it, and place what they confirm."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

from bot.checkout.steps.amount import COMMON
from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.infra.telegram.ui.routes import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.feature import Orders
from bot.orders.order import Order, Payer, payer_in_chat
from bot.payment_requests.buttons import REASONS, PayAction, PayButton
from bot.payment_requests.model import LINK, PaymentRequest, read_token
from bot.payment_requests.paying import screens
from bot.payment_requests.paying.service import Confirmation, NotPayable, PayService, read_rupiah
from bot.payment_requests.service import ReportService
from bot.settlement.errors import MethodVanished, SettlementFailure
from bot.users import questions
from bot.users.repository import UserRepository
from bot.users.session import Session

AMOUNT: Final = "payment_request_amount"
REVIEW_BYTES: Final = 6
UNPAYABLE: Final = (Rejection, MethodVanished, SettlementFailure)
"""Why an open request can't be paid now."""

_Action = Callable[[Session, PaymentRequest, PayButton], Awaitable[object]]


class PayHandlers:
    """Show what links ask for, and place orders. Whoever has a link can pay it."""

    def __init__(self, service: PayService, orders: Orders, reports: ReportService, *, is_on: bool) -> None:
        self._service = service
        self._reports = reports
        self._orders = orders.service
        self._status_messages = orders.status_messages
        self._is_on = is_on

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session]()
        actions: Mapping[PayAction, _Action] = {
            PayAction.SHOW: self._show,
            PayAction.REVIEW: self._choose,
            PayAction.CONFIRM: self._confirm,
            PayAction.CANCEL: self._cancel,
            PayAction.REPORT: self._ask_why,
            **dict.fromkeys(REASONS, self._report),
        }
        routes.add_actions(PayButton, self.pay_button, actions)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the typed amount."""
        return {AMOUNT: questions.accept_text(self.amount_typed)}

    async def open_again(self, session: Session, order: Order) -> None:
        """Open the link that an order was made from."""
        await session.acknowledge()
        session.message_id = None
        await self._open(session, await self._service.get(order.origin or ""))

    async def pay_button(self, session: Session, button: PayButton, act: _Action) -> None:
        """Do the action of a payer's button, if its link can still be paid. Any link can be reported and left."""
        request = await self._service.get(button.request_id)
        await session.acknowledge()
        is_payable = self._is_on and request is not None and request.is_payable(session.now)
        if request is None or not (is_payable or button.action in {PayAction.REPORT, PayAction.CANCEL, *REASONS}):
            await self._open(session, request)
        else:
            await act(session, request, button)

    async def amount_typed(self, session: Session, request_id: str, text: str) -> None:
        """Show the review of the typed amount. If it can't be read or sent, say why and ask again."""
        request = await self._service.get(request_id) if self._is_on else None
        if request is None or not request.is_payable(session.now):
            await self._save_answered(session)
            await self._open(session, request)
            return
        try:
            idr = read_rupiah(text)
            await self._service.estimate(request, idr, await self._service.read_user_orders(_payer(session)))
        except Rejection as rejection:
            session.notice = session.format_rejection(rejection)
            await self._ask_amount(session, request)
        except (MethodVanished, SettlementFailure) as failure:
            await self._save_answered(session)
            await self._explain(session, request, failure)
        else:
            await self._save_answered(session)
            await self._review(session, request, idr)

    async def _save_answered(self, session: Session) -> None:
        async with session.infra.database.transaction() as tx:
            await UserRepository(tx).save(questions.mark_answered(session))

    async def open_link(self, session: Session, word: str) -> bool:
        """Open a link. Return False for any other word after `/start`."""
        if not word.startswith(LINK):
            return False
        token = read_token(word)
        session.message_id = None
        await self._open(session, await self._service.find(token) if token and self._is_on else None)
        return True

    async def _open(self, session: Session, request: PaymentRequest | None) -> None:
        """Show what a link asks for, or why it can't be paid."""
        if not self._is_on:
            await self._show_screen(session, screens.show_off(session.t))
        elif request is None:
            await self._show_screen(session, screens.show_unknown(session.t))
        elif not request.is_payable(session.now):
            state = request.state_at(session.now)
            await self._show_screen(session, screens.show_not_payable(session.t, request, state))
        elif request.idr is None:
            await self._ask_amount(session, request)
        else:
            await self._review(session, request, request.idr)

    async def _show(self, session: Session, request: PaymentRequest, _: PayButton) -> None:
        await self._open(session, request)

    async def _choose(self, session: Session, request: PaymentRequest, button: PayButton) -> None:
        await self._review(session, request, button.idr if request.idr is None else request.idr)

    async def _ask_amount(self, session: Session, request: PaymentRequest) -> None:
        """Ask how much the payer wants to send. A typed amount goes to `amount_typed`."""
        choices = {}
        with suppress(SettlementFailure):
            user_orders = await self._service.read_user_orders(_payer(session))
            amounts = [Amount("IDR", idr) for idr in COMMON]
            choices = await self._orders.estimate_choices(user_orders, request.method, amounts)
        minimum = self._orders.rules.min_order_idr
        await questions.ask(session, AMOUNT, screens.ask_amount(session.t, request, minimum, choices), request.id)

    async def _explain(self, session: Session, request: PaymentRequest, failure: Exception) -> None:
        """Say why there is no price or no order: `UNPAYABLE`."""
        why = screens.explain_failure(session.reader, request, failure)
        await self._show_screen(session, screens.show_rejection(session.t, request, why))

    async def _review(self, session: Session, request: PaymentRequest, idr: int) -> None:
        """Show the review, or the payer's unpaid order of the same amount if its price still holds."""
        user_orders = await self._service.read_user_orders(_payer(session))
        try:
            estimated = await self._service.estimate(request, idr, ())
            unpaid = self._service.find_unpaid(user_orders, request, estimated.idr, estimated.sats)
            if unpaid is not None:
                await self._show_unpaid(session, request, unpaid)
                return
            await self._service.estimate(request, idr, user_orders)
        except UNPAYABLE as failure:
            await self._explain(session, request, failure)
        else:
            phrase = await session.find_new_phrase()
            review = secrets.token_hex(REVIEW_BYTES)
            shown = screens.show_review(session.t, request, estimated, session.zone, review=review, phrase=phrase)
            await self._show_screen(session, shown)

    async def _show_unpaid(self, session: Session, request: PaymentRequest, order: Order) -> None:
        """Show the payer's own unpaid order again."""
        await session.send_message(screens.show_unpaid(session.t, request))
        await self._status_messages.resend_status_message(session, order)

    async def _confirm(self, session: Session, request: PaymentRequest, button: PayButton) -> None:
        """Place the order. Notifications say what follows."""
        phrase = await session.find_new_phrase()
        confirmed = Confirmation(
            payer=_payer(session),
            request_id=request.id,
            idr=button.idr,
            sats=button.sats,
            review=button.review,
            phrase=phrase,
            message_id=session.message_id,
        )
        try:
            order = await self._service.place(confirmed)
        except NotPayable:
            await self._open(session, await self._service.get(request.id))
        except UNPAYABLE as failure:
            await self._explain(session, request, failure)
        else:
            if order.draft_id.endswith(f".{button.review}"):
                await self._status_messages.show_outcome(session, order)
            else:
                await self._show_unpaid(session, request, order)

    async def _cancel(self, session: Session, _: PaymentRequest, __: PayButton) -> None:
        """Leave the link. Nothing was placed, or it waits for a payment that nobody has to make."""
        await self._show_screen(session, screens.show_cancelled(session.t))

    async def _ask_why(self, session: Session, request: PaymentRequest, _: PayButton) -> None:
        await self._show_screen(session, screens.ask_why(session.t, request))

    async def _report(self, session: Session, request: PaymentRequest, button: PayButton) -> None:
        """Report the request to the operators, for the reason of the button."""
        said = session.t("payment_requests.pay.reported")
        try:
            await self._reports.report(_payer(session), request.id, button.action)
        except Rejection as rejection:
            said = session.format_rejection(rejection)
        await self._show_screen(session, screens.show_reported(session.t, request, said))

    async def _show_screen(self, session: Session, screen: Screen) -> None:
        await session.show(session.with_resume(screen))


def _payer(session: Session) -> Payer:
    return payer_in_chat(session.user.id, session.chat_id)
