"""Checkout: from `/send` to a reviewed order, by questions, in one line, or from an earlier order."""

from bot.checkout.contact_handlers import ContactHandlers
from bot.checkout.conversation import Conversation
from bot.checkout.draft import Step
from bot.checkout.edited_answer_handlers import EditedAnswers
from bot.checkout.handlers import DraftHandlers
from bot.checkout.notifications import RENDERERS
from bot.checkout.one_line_handlers import OneLineHandlers
from bot.checkout.open_draft import load_draft
from bot.checkout.repeat_handlers import RepeatHandlers
from bot.checkout.sender import load_sender
from bot.checkout.service import DraftService
from bot.checkout.steps.amount import AmountStep
from bot.checkout.steps.channel import ChannelStep
from bot.checkout.steps.destination import DestinationStep
from bot.checkout.steps.holder import HolderStep
from bot.checkout.steps.number import NumberStep
from bot.checkout.steps.review import ReviewStep
from bot.checkout.user_data import USER_DATA
from bot.checkout.workers import DraftWorker, WaitingDraftWorker
from bot.infra.feature import Feature, HandlerPhase, Infra, Worker
from bot.infra.telegram.ui.router import Menu
from bot.orders.buttons import OrderAction
from bot.orders.feature import Orders
from bot.recipients.buttons import RecipientAction
from bot.settlement.catalogue import ServiceCatalogue
from bot.users.feature import Users


class Checkout:
    """Build the feature."""

    def __init__(self, infra: Infra, catalogue: ServiceCatalogue, *, users: Users, orders: Orders) -> None:
        database = infra.database
        self.drafts = DraftService(database, infra.clock)
        review = ReviewStep(
            catalogue=catalogue,
            orders=orders.service,
            drafts=self.drafts,
            destinations=orders.destinations,
        )
        amount = AmountStep(orders=orders.service)
        self.draft_handlers = draft_handlers = DraftHandlers(
            database=database,
            drafts=self.drafts,
            orders=orders.service,
            status_messages=orders.status_messages,
            review=review,
            features=infra.features,
            steps={
                Step.DESTINATION: DestinationStep(catalogue=catalogue, orders=orders.service),
                Step.NUMBER: NumberStep(),
                Step.HOLDER: HolderStep(),
                Step.AMOUNT: amount,
                Step.CHANNEL: ChannelStep(catalogue=catalogue),
                Step.REVIEW: review,
            },
        )
        one_line = OneLineHandlers(
            catalogue=catalogue,
            drafts=self.drafts,
            draft_handlers=draft_handlers,
            amount=amount,
        )
        contacts = ContactHandlers(drafts=self.drafts, draft_handlers=draft_handlers)
        self.conversation = Conversation(
            drafts=self.drafts,
            draft_handlers=draft_handlers,
            one_line=one_line,
            contacts=contacts,
            status_questions=orders.status_questions,
        )
        repeating = RepeatHandlers(
            database=database,
            catalogue=catalogue,
            drafts=self.drafts,
            orders=orders.service,
            status_messages=orders.status_messages,
            draft_handlers=draft_handlers,
        )
        edited = EditedAnswers()
        expiry = DraftWorker(self.drafts, infra.chat_jobs)
        waiting = WaitingDraftWorker(self.drafts, catalogue, users.sessions, draft_handlers, infra.chat_jobs)
        self.feature = Feature(
            name="checkout",
            menu={"send": {Menu.EVERYONE: 10}, "cancel": {Menu.EVERYONE: 70}},
            unreadable_rows={"drafts": "checkout.draft.unreadable"},
            user_data=USER_DATA,
            on_load=(load_draft, load_sender),
            order_actions={OrderAction.REQUOTE: repeating.get_new_quote, OrderAction.RESEND: repeating.resend},
            recipient_actions={RecipientAction.SEND: repeating.send_to_recipient},
            conversation=draft_handlers,
            routes=(self.conversation.routes(), self.conversation.fallback_routes()),
            after_update=(edited.remember,),
            handlers={
                HandlerPhase.QUESTIONS: (edited.handler(),),
                HandlerPhase.CONVERSATION: self.conversation.handlers(),
            },
            renderers=(RENDERERS,),
            workers=(Worker("draft-expiry", expiry.tick), Worker("waiting-drafts", waiting.tick)),
            jobs={**expiry.jobs(), **waiting.jobs()},
        )
