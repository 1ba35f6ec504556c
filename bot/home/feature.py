"""The top of the features: what is about several of them. It calls them, and none of them calls it."""

from collections.abc import Sequence
from typing import Final

from telegram import Bot

from bot.broadcasts.model import AUDIT_TERMS as BROADCASTS
from bot.home.command_menus import CommandMenus, collect_menus
from bot.home.handlers import BuiltFeatures, ButtonHandlers, IdleMessages, SettingsHandlers, Start, StartHandlers
from bot.infra.feature import Feature, Infra, Worker
from bot.operations.feature import AUDIT_TERMS as OPERATIONS
from bot.payment_requests.service import AUDIT_TERMS as PAYMENT_REQUESTS
from bot.staff.audit import STAFF_TERMS
from bot.support.feature import AUDIT_TERMS as SUPPORT
from bot.users.model import Provider


class Home:
    """Build the feature.

    Args:
        infra: what every feature is built on.
        below: the features that it calls.
        features: what all features below declare. Their commands are in the menus.
        bot: sets the menus.
        provider: who runs the bot.
    """

    def __init__(
        self, infra: Infra, below: BuiltFeatures, *, features: Sequence[Feature], bot: Bot, provider: Provider
    ) -> None:
        self.start = Start(below, provider)
        starts = StartHandlers(below)
        self.idle_messages = IdleMessages(below, starts)
        settings = SettingsHandlers(infra, below.rates.subscriptions, below.payment_reminders.service)
        operator_ids, staff_chat = below.orders.service.rules.operator_ids, below.staff.chat
        routes = (settings.routes(), starts.routes(), ButtonHandlers(below).routes())
        by_menu = collect_menus([*(each for feature in features for each in feature.routes), *routes])
        menus = CommandMenus(bot, infra, by_menu, operator_ids=operator_ids, staff_chat=staff_chat)
        self.feature = Feature(
            name="home",
            routes=routes,
            answers=settings.answers(),
            workers=(Worker("commands", menus.set_menus), Worker("descriptions", menus.set_descriptions)),
        )


AUDIT_TERMS: Final = STAFF_TERMS | BROADCASTS | OPERATIONS | PAYMENT_REQUESTS | SUPPORT
