"""The feature of payment reminders: a message on a chosen day, from which the same is prepared again."""

from bot.checkout.feature import Checkout
from bot.infra.feature import Feature, Infra, Worker
from bot.payment_reminders.handlers import ReminderHandlers
from bot.payment_reminders.notifications import RENDERERS
from bot.payment_reminders.service import ReminderService
from bot.payment_reminders.user_data import USER_DATA
from bot.recipients.feature import Recipients


class PaymentReminders:
    """Build the feature. Reminders are due from `hour` o'clock on."""

    def __init__(self, infra: Infra, *, recipients: Recipients, checkout: Checkout, hour: int) -> None:
        self.service = ReminderService(infra, hour)
        self.handlers = ReminderHandlers(self.service, recipients.service, checkout.repeating)
        self.feature = Feature(
            name="payment_reminders",
            user_data=USER_DATA,
            routes=(self.handlers.routes(),),
            renderers=(RENDERERS,),
            workers=(Worker("payment-reminders", self.service.queue_due),),
        )
