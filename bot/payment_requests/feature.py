"""Payment requests: who is to receive rupiah makes a link, and anyone pays it."""

from bot.checkout.draft import Step
from bot.checkout.feature import Checkout
from bot.checkout.one_line_handlers import OneLineHandlers
from bot.infra.feature import Feature, Infra, Worker
from bot.orders.feature import Orders
from bot.payment_requests import notifications
from bot.payment_requests.handlers import PaymentRequestHandlers, ReportHandlers
from bot.payment_requests.inline import InlineAnswers
from bot.payment_requests.model import PaymentRequestRules
from bot.payment_requests.paying import notifications as outcomes
from bot.payment_requests.paying.handlers import PayHandlers
from bot.payment_requests.paying.service import PayService
from bot.payment_requests.service import PaymentRequestService, ReportService
from bot.payment_requests.steps import (
    EndStep,
    NoteStep,
    RequestAmountStep,
    RequestHolderStep,
    RequestReviewStep,
    UsesStep,
)
from bot.payment_requests.user_data import USER_DATA
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
        self.is_on = is_on = rules.is_on
        self.handlers = handlers = PaymentRequestHandlers(
            requests=self.service,
            draft_handlers=asked,
            one_line=OneLineHandlers(catalogue=catalogue, drafts=drafts, draft_handlers=asked, amount=amount),
            catalogue=catalogue,
            is_on=is_on,
            public_url=rules.public_url,
        )
        self.reports = ReportService(infra, rules)
        reports = ReportHandlers(reports=self.reports)
        self.pay_service = PayService(infra, orders.service, is_on=is_on)
        self.paying = paying = PayHandlers(self.pay_service, orders, self.reports, is_on=is_on)
        self.inline_answers = InlineAnswers(infra, catalogue) if is_on else None
        checkout.draft_handlers.add_requests(
            {
                Step.HOLDER: holder,
                Step.AMOUNT: amount,
                Step.NOTE: NoteStep(),
                Step.USES: UsesStep(),
                Step.END: EndStep(),
                Step.REVIEW: RequestReviewStep(drafts=drafts, requests=self.service, holder=holder, amount=amount),
            },
            handlers.show_result,
        )
        self.feature = Feature(
            name="payment_requests",
            unreadable_rows={"payment_requests": "payment_requests.unreadable"},
            user_data=USER_DATA,
            # Operators can close what was reported also while nobody can ask.
            routes=(*((handlers.routes(),) if is_on else ()), paying.routes(), reports.routes()),
            answers={**(handlers.answers() if is_on else {}), **paying.answers()},
            workers=(Worker("shared-requests", self.service.follow_ended),),
            renderers=(notifications.RENDERERS, outcomes.RENDERERS),
            follow_ups={**notifications.FOLLOW_UPS, **outcomes.follow_ups(rules.operator_ids)},
        )
