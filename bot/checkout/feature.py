"""Checkout: from `/send` to a reviewed order, by questions, in one line, or from an earlier order."""

from bot.checkout.conversation import Conversation
from bot.checkout.draft import Step
from bot.checkout.handlers import DraftHandlers, EditedAnswers
from bot.checkout.notifications import RENDERERS
from bot.checkout.one_line_handlers import OneLineHandlers
from bot.checkout.repeat_handlers import RepeatHandlers
from bot.checkout.service import DraftService
from bot.checkout.steps.amount import AmountStep
from bot.checkout.steps.recipient import DestinationStep, HolderStep, NumberStep
from bot.checkout.steps.review import ReviewStep
from bot.checkout.user_data import USER_DATA
from bot.checkout.workers import DraftWorkers
from bot.infra.feature import Feature, Infra, Worker
from bot.orders.feature import Orders
from bot.settlement.catalogue import ServiceCatalogue
from bot.users.feature import Users


class Checkout:
    """Build the feature."""

    def __init__(self, infra: Infra, catalogue: ServiceCatalogue, *, users: Users, orders: Orders, run_by: str) -> None:
        database = infra.database
        self.drafts = DraftService(database, infra.clock)
        review = ReviewStep(
            catalogue=catalogue,
            orders=orders.service,
            drafts=self.drafts,
            destinations=orders.destinations,
            run_by=run_by,
        )
        amount = AmountStep(orders=orders.service)
        self.draft_handlers = draft_handlers = DraftHandlers(
            database=database,
            drafts=self.drafts,
            orders=orders.service,
            status_messages=orders.status_messages,
            steps={
                Step.DESTINATION: DestinationStep(catalogue=catalogue, orders=orders.service),
                Step.NUMBER: NumberStep(catalogue=catalogue),
                Step.HOLDER: HolderStep(),
                Step.AMOUNT: amount,
                Step.REVIEW: review,
            },
        )
        self.one_line = one_line = OneLineHandlers(
            catalogue=catalogue,
            drafts=self.drafts,
            draft_handlers=draft_handlers,
            amount=amount,
        )
        conversation = Conversation(
            drafts=self.drafts,
            draft_handlers=draft_handlers,
            one_line=one_line,
            status_answers=orders.status_answers,
        )
        self.repeating = RepeatHandlers(
            database=database,
            catalogue=catalogue,
            orders=orders.service,
            status_messages=orders.status_messages,
            draft_handlers=draft_handlers,
        )
        self.conversation = conversation.build()
        self.edited_answers = EditedAnswers()
        workers = DraftWorkers(self.drafts, catalogue, users.sessions, draft_handlers, infra.inbox)
        self.feature = Feature(
            name="checkout",
            unreadable_rows={"drafts": "checkout.draft.unreadable"},
            user_data=USER_DATA,
            renderers=(RENDERERS,),
            workers=(Worker("draft-expiry", workers.expire_idle), Worker("waiting-drafts", workers.show_waiting)),
            jobs=workers.jobs(),
        )
