"""Handle what is about several features.

These are `/start`, `/help`, `/status`, `/settings`, `/language`, messages that answer nothing, and the buttons of
orders and saved recipients.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from telegram import Message, Update

from bot.checkout.feature import Checkout
from bot.checkout.open_draft import DRAFT, draft_of
from bot.core.zones import find_zones, offered_zone
from bot.home import screens
from bot.home.topics import Topic, find_topic, read_amounts
from bot.infra.feature import Infra
from bot.infra.i18n import LOCALES, Html
from bot.infra.i18n.formats import list_zone_names
from bot.infra.telegram.ui.routes import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.operations.feature import Operations
from bot.orders.buttons import OrderAction, OrderButton
from bot.orders.feature import Orders
from bot.orders.handlers import ActOnOrder
from bot.orders.order import Order
from bot.orders.screens.order_lists import describe_open
from bot.orders.status_handlers import RECENT, find_invoice, is_payee
from bot.payment_reminders.feature import PaymentReminders
from bot.payment_reminders.service import ReminderService
from bot.payment_requests.feature import PaymentRequests
from bot.rates.feature import Rates
from bot.rates.service import SubscriptionService
from bot.recipients.buttons import RecipientAction, RecipientButton
from bot.recipients.feature import Recipients
from bot.staff.feature import Staff
from bot.support.buttons import HelpButton, HelpPage
from bot.support.feature import Support
from bot.users import questions
from bot.users import screens as user_screens
from bot.users.buttons import LanguageButton, SettingsAction, SettingsButton, send_row
from bot.users.model import Provider
from bot.users.questions import OpenQuestion
from bot.users.repository import UserRepository
from bot.users.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltFeatures:
    """What this package calls."""

    recipients: Recipients
    rates: Rates
    staff: Staff
    orders: Orders
    checkout: Checkout
    payment_requests: PaymentRequests
    payment_reminders: PaymentReminders
    support: Support
    operations: Operations


class Start:
    """Make the start."""

    def __init__(self, below: BuiltFeatures, provider: Provider) -> None:
        self._agents = below.support.agents.guide
        self._operators = below.operations.status
        self._facts = below.support.facts
        self._catalogue = below.orders.service.catalogue
        self._provider = provider
        self._can_ask = below.payment_requests.is_on

    async def make(self, session: Session) -> Screen:
        """Return the start. If the service doesn't answer or its rate is old, the welcome has no price."""
        read = (await self._agents.read_start(session), await self._operators.read_start(session))
        if parts := [part for part in read if part is not None]:
            return screens.show_staff_start(session.t, parts)
        quote = await self._catalogue.quote_soon()
        if quote is not None and quote.is_stale(session.now):
            quote = None
        facts = await self._facts.read()
        return screens.show_welcome(session.t, facts, quote, self._provider, can_ask=self._can_ask)


class StartHandlers:
    """Show the start, how the bot works and how to reach support, and the status. Members of staff see their own."""

    def __init__(self, below: BuiltFeatures) -> None:
        self._orders = below.orders.handlers
        self._pages = below.support.help_pages
        self._agents = below.support.agents.guide
        self._operators = below.operations.status
        requests = below.payment_requests
        self._links = (below.orders.receipts.open_link, requests.handlers.open_link, requests.paying.open_link)

    def routes(self) -> Routes[Session]:
        """Return the commands and the buttons."""
        routes = Routes[Session]()
        routes.add_command("start", self.show_start, menu={Menu.EVERYONE: 130})
        routes.add_command("help", self.show_help, menu={Menu.EVERYONE: 120})
        routes.add_button(HelpButton, self.help_button)
        routes.add_command("status", self.show_status, menu={Menu.EVERYONE: 40, Menu.OPERATORS: 10})
        return routes

    async def show_start(self, session: Session, word: str) -> None:
        """Open what a link to the bot names, which Telegram sends as a word after `/start`. Else show the start."""
        for open_link in self._links:
            if await open_link(session, word):
                return
        session.message_id = None
        await session.show_start()

    async def show_help(self, session: Session, _: str) -> None:
        """Show the first page in a new message."""
        await session.show_below(session.with_resume(await self._make_page(session, HelpPage.FIRST)))

    async def help_button(self, session: Session, button: HelpButton) -> None:
        """Show a page in place of the page before."""
        await session.acknowledge()
        await session.show(session.with_resume(await self._make_page(session, button.page)))

    async def _make_page(self, session: Session, page: HelpPage) -> Screen:
        if page is HelpPage.FIRST:
            made = (self._agents.make_help(session), self._operators.make_help(session))
            if parts := [part for part in made if part is not None]:
                return screens.show_staff_help(session.t, parts)
        return await self._pages.make(session, page)

    async def show_status(self, session: Session, _: str) -> None:
        """Show operators the monitored status, and other users their own orders."""
        make = self._operators.make_status if session.is_operator else self._orders.show_open_orders
        await session.show_below(session.with_resume(await make(session)))


class IdleMessages:
    """Take messages that nothing else has taken."""

    def __init__(self, below: BuiltFeatures, starts: StartHandlers) -> None:
        self._starts = starts
        self._drafts = below.checkout.draft_handlers
        self._one_line = below.checkout.one_line
        self._orders = below.orders.status_answers
        self._rates = below.rates.handlers
        self._tickets = below.support.user_tickets

    async def take(self, session: Session, _: Update) -> bool:
        """Take an unknown command, or any other message of a private chat."""
        message = session.typed
        if message is None:
            return False
        if (message.text or "").startswith("/"):
            session.notice = session.t("checkout.chat.unknown_command")
            await session.show_start()
        elif not await self._answer(session, message):
            if session.user.chat is None:  # nothing was ever shown to this person
                await session.show_start()
            else:
                key = "users.chat.late" if await session.is_overtaken() else "home.chat.not_understood"
                await session.show(session.with_resume(Screen(session.t(key), (send_row(session.t, style=None),))))
        return True

    async def _answer(self, session: Session, message: Message) -> bool:
        """Return False if nothing of the message is understood."""
        is_idle = session[DRAFT] is None
        if is_idle and message.forward_origin is None and await self._begin_order(session, message):
            return True
        invoice = find_invoice(message.text or message.caption or "") if is_idle else None
        # The answer first, and below it whether the message is for support.
        is_answered = is_idle and invoice is None and await self._answer_words(session, message)
        is_answered = await self._tickets.offer_to_forward(session, message) or is_answered
        return is_answered or (is_idle and await self._orders.answer(session, message, invoice))

    async def _begin_order(self, session: Session, message: Message) -> bool:
        """Begin an order with the wish to send, an amount or a destination's name. The last two may be for support."""
        text = message.text or ""
        if find_topic(text) is Topic.SEND:
            await self._drafts.begin(session, draft_of(session))
            await self._drafts.show(session)
            return True
        if not await self._one_line.is_part_of_order(session, text):
            return False
        if not await self._tickets.offer_to_forward(session, message):
            await self._one_line.begin(session, text)
        return True

    async def _answer_words(self, session: Session, message: Message) -> bool:
        """Answer the user's own words: the topic that they name, and the order that they may be about.

        Whoever writes for the first time and asks nothing in particular gets the start.
        """
        text, is_new = message.text, session.user.chat is None
        if text is None or message.forward_origin is not None or is_payee(text):
            return False
        topic = find_topic(text)
        amounts = read_amounts(text) if topic in {Topic.PRICE, Topic.QUESTION} else ()
        if topic is Topic.PRICE or amounts:
            await self._show_with_order(session, await self._rates.make_rate(session, amounts))
        elif topic is Topic.THANKS:
            await session.show(session.with_resume(Screen(session.t("home.chat.thanks"))))
        elif topic in {Topic.GREETING, Topic.OK} and not is_new:
            await self._show_with_order(session, Screen(session.t(f"home.chat.{topic}"), (send_row(session.t),)))
        elif topic is Topic.HELP:
            await self._starts.show_help(session, text)
        else:
            return await self._answer_about_order(session, text, topic, is_new=is_new)
        return True

    async def _answer_about_order(self, session: Session, text: str, topic: Topic | None, *, is_new: bool) -> bool:
        is_asked = topic in {Topic.CANCEL, Topic.REFUND, Topic.MONEY}
        recent, cancels = timedelta.max if is_asked else RECENT, topic in {Topic.CANCEL, Topic.REFUND}
        if await self._orders.show_meant(session, text, asks_to_cancel=cancels, recent=recent):
            return True
        if is_asked:
            await self._orders.show_none(session)
            return True
        if topic is Topic.QUESTION and not is_new:
            await self._starts.show_help(session, text)
            return True
        return False

    async def _show_with_order(self, session: Session, screen: Screen) -> None:
        """Show the screen, with the order in progress in one line."""
        order = await self._orders.find_open(session)
        if order is not None:
            line, button = describe_open(session.reader, order)
            screen = replace(screen, text=Html(f"{screen.text}\n\n{line}"), keyboard=((button,), *screen.keyboard))
        await session.show_below(session.with_resume(screen))


class ButtonHandlers:
    """Do what the buttons of orders and of saved recipients say. Several features do it."""

    def __init__(self, below: BuiltFeatures) -> None:
        self._recipients = below.recipients.handlers
        self._orders = below.orders.handlers
        self._repeating = below.checkout.repeating
        self._tickets = below.support.user_tickets
        self._requests = below.payment_requests
        self._paying = below.payment_requests.paying
        self._reminders = below.payment_reminders.handlers

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session]()
        about_order = {
            **self._orders.actions,
            OrderAction.HELP: self._tickets.ask_about,
            OrderAction.REQUOTE: self._unless_hidden(self._repeating.get_new_quote),
            OrderAction.RESEND: self._unless_hidden(self._repeating.resend),
            OrderAction.OPEN_LINK: self._paying.open_again,
            OrderAction.REMIND: self._reminders.offer_for_order,
        }
        routes.add_actions(OrderButton, self._orders.order_button, about_order, belongs_to="order")
        to_recipient = {
            **self._recipients.actions,
            RecipientAction.SEND: self._repeating.send_to_recipient,
            RecipientAction.REMIND: self._reminders.offer_for_recipient,
            RecipientAction.ASK: self._requests.handlers.ask_to_recipient if self._requests.is_on else None,
        }
        routes.add_actions(RecipientButton, self._recipients.recipient_button, to_recipient, belongs_to="recipient")
        return routes

    def _unless_hidden(self, begin: ActOnOrder) -> ActOnOrder:
        """Open the link again instead, if the payer may not see the recipient: a draft would have the number."""

        async def act(session: Session, order: Order) -> None:
            await (self._paying.open_again if order.hides_recipient else begin)(session, order)

        return act


PLACE: Final = "place"

_Action = Callable[[Session, str], Awaitable[bool]]
"""Returns False for an argument that it can't read."""


class SettingsHandlers:
    """Show the settings, and let users choose their language and time zone."""

    def __init__(self, infra: Infra, subscriptions: SubscriptionService, reminders: ReminderService) -> None:
        self._database = infra.database
        self._translations = infra.translations
        self._subscriptions = subscriptions
        self._reminders = reminders

    def routes(self) -> Routes[Session]:
        """Return the commands and the buttons."""
        routes = Routes[Session]()
        routes.add_command("settings", self.show_settings, menu={Menu.EVERYONE: 80})
        routes.add_command("language", self.show_languages, menu={Menu.EVERYONE: 110})
        routes.add_button(LanguageButton, self.language_button)
        actions: Mapping[SettingsAction, _Action] = {
            SettingsAction.SHOW: self._show,
            SettingsAction.LANG: self._choose_language,
            SettingsAction.ZONES: self._show_zones,
            SettingsAction.ZONE: self._choose_zone,
            SettingsAction.PLACE: self._ask_place,
        }
        routes.add_actions(SettingsButton, self.settings_button, actions)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the typed answer to each question."""
        return {PLACE: questions.accept_text(self.place_typed)}

    async def show_settings(self, session: Session, _: str) -> None:
        """Show the settings."""
        session.message_id = None
        await self._show(session)

    async def show_languages(self, session: Session, _: str) -> None:
        """Show the languages to choose from."""
        await session.show_below(session.with_resume(user_screens.ask_language(session.t)))

    async def language_button(self, session: Session, button: LanguageButton) -> None:
        """Change the language, and repeat the open question in it."""
        await self._change_language(session, button.locale)
        if not await session.show_question():
            await session.show_start()

    async def settings_button(self, session: Session, button: SettingsButton, act: _Action) -> None:
        """Do the action of a button of the settings."""
        if not await act(session, button.argument):
            await session.explain("users.stale.button")

    async def place_typed(self, session: Session, _: str, text: str) -> None:
        """Show the time zones that a typed place can mean. The question stays open until the user chooses one."""
        names = await asyncio.to_thread(list_zone_names)
        keys = find_zones(text, names, session.now)
        if keys:
            await session.ask(user_screens.offer_zones(session.reader, text, keys))
            return
        session.notice = session.t("users.zone.unknown")
        await session.ask(session.with_resume(user_screens.ask_place(session.t)))

    async def _show(self, session: Session, _: str = "") -> bool:
        return await _show_in_place(session, screens.show_settings(session.reader, session.user))

    async def _show_zones(self, session: Session, _: str) -> bool:
        # Whoever is asked for a time zone may type the place instead of pressing a button.
        await questions.save_question(session, OpenQuestion(PLACE))
        return await _show_in_place(session, user_screens.ask_zone(session.reader))

    async def _ask_place(self, session: Session, _: str) -> bool:
        await session.acknowledge()
        await questions.ask(session, PLACE, user_screens.ask_place(session.t))
        return True

    async def _choose_zone(self, session: Session, key: str) -> bool:
        zone = offered_zone(key, await asyncio.to_thread(list_zone_names))
        if zone is None:
            return False
        session.user = replace(session.user, time_zone=key)
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(session.user)
            await self._subscriptions.move_daily_quote(tx, session.user)
            await self._reminders.move_to_zone(tx, session.user)
        await session.acknowledge(session.t.plain("users.zone.changed", time=session.t.clock(session.now, zone)))
        return await self._show(session)

    async def _choose_language(self, session: Session, locale: str) -> bool:
        if locale not in LOCALES:
            return False
        await self._change_language(session, locale)
        return await self._show(session)

    async def _change_language(self, session: Session, locale: str) -> None:
        await session.save_user(replace(session.user, locale=locale, suggested_phrase=None))
        session.t = self._translations.get(locale)
        await session.acknowledge(session.t.plain("users.language.changed"))


async def _show_in_place(session: Session, screen: Screen) -> bool:
    await session.acknowledge()
    await session.show(session.with_resume(screen))
    return True
