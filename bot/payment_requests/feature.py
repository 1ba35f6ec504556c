"""Payment requests: who is to receive rupiah makes a link, and anyone pays it."""

from bot.checkout.draft import Step
from bot.checkout.feature import Checkout
from bot.checkout.one_line_handlers import OneLineHandlers
from bot.infra.feature import Feature, HandlerPhase, Infra
from bot.orders.buttons import OrderAction
from bot.orders.feature import Orders
from bot.payment_requests import notifications
from bot.payment_requests.audit import AUDIT_TERMS
from bot.payment_requests.handlers import PaymentRequestHandlers
from bot.payment_requests.inline import InlineAnswers
from bot.payment_requests.paying import notifications as outcomes
from bot.payment_requests.paying.handlers import PayHandlers
from bot.payment_requests.paying.service import PayService
from bot.payment_requests.report_handlers import ReportHandlers
from bot.payment_requests.reports import ReportService
from bot.payment_requests.rules import PaymentRequestRules
from bot.payment_requests.screens.requests import make_ask_button, make_recipient_button
from bot.payment_requests.service import PaymentRequestService
from bot.payment_requests.steps.amount import RequestAmountStep
from bot.payment_requests.steps.holder import RequestHolderStep
from bot.payment_requests.steps.review import RequestReviewStep
from bot.payment_requests.steps.terms import EndStep, NoteStep, UsesStep
from bot.payment_requests.user_data import USER_DATA
from bot.recipients.buttons import RecipientAction
from bot.settlement.catalogue import ServiceCatalogue


class PaymentRequests:
    """Build the feature."""

    def __init__(
        self,
        infra: Infra,
        catalogue: ServiceCatalogue,
        *,
        orders: Orders,
        checkout: Checkout,
        rules: PaymentRequestRules,
    ) -> None:
        self.service = PaymentRequestService(infra, rules)
        holder = RequestHolderStep(catalogue=catalogue, rules=rules)
        amount, drafts, asked = RequestAmountStep(orders=orders.service), checkout.drafts, checkout.draft_handlers
        handlers = PaymentRequestHandlers(
            requests=self.service,
            drafts=drafts,
            draft_handlers=asked,
            one_line=OneLineHandlers(catalogue=catalogue, drafts=drafts, draft_handlers=asked, amount=amount),
            catalogue=catalogue,
        )
        self.reports = ReportService(infra, rules)
        reports, is_on = ReportHandlers(reports=self.reports), rules.is_on
        paying = PayHandlers(PayService(infra, orders.service), orders, self.reports, is_on=is_on)
        self.feature = Feature(
            name="payment_requests",
            unreadable_rows={"payment_requests": "payment_requests.unreadable"},
            user_data=USER_DATA,
            # Operators can close what was reported also while nobody can ask.
            routes=(*((handlers.routes(),) if is_on else ()), paying.routes(), reports.routes()),
            audit_terms=AUDIT_TERMS,
            answers={**(handlers.answers() if is_on else {}), **paying.answers()},
            handlers={
                phase: (*(handlers.handlers()[phase] if is_on else ()), *paying.handlers().get(phase, ()))
                for phase in (HandlerPhase.QUESTIONS, HandlerPhase.FEATURES)
            },
            answer_inline_query=InlineAnswers(infra, catalogue).answer if is_on else None,
            start_buttons=(make_ask_button,) if is_on else (),
            recipient_buttons=(make_recipient_button,) if is_on else (),
            recipient_actions={RecipientAction.ASK: handlers.ask_to_recipient} if is_on else {},
            request_steps={
                Step.HOLDER: holder,
                Step.AMOUNT: amount,
                Step.NOTE: NoteStep(),
                Step.USES: UsesStep(),
                Step.END: EndStep(),
                Step.REVIEW: RequestReviewStep(drafts=drafts, requests=self.service, holder=holder, amount=amount),
            },
            show_placed_request=handlers.show_placed,
            renderers=(notifications.RENDERERS, outcomes.RENDERERS),
            order_actions={OrderAction.OPEN_LINK: paying.open_again},
            order_listeners=(outcomes.LinkListener(),),
            follow_ups=outcomes.follow_ups(rules.operator_ids),
            after_update=(handlers.show_missed,),
        )
