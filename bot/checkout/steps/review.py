"""The review before the service is asked, and the order that it becomes when it is confirmed."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from bot.checkout.buttons import DraftAction
from bot.checkout.confirmation import place_draft, review_draft
from bot.checkout.draft import OrderDraft, without_method
from bot.checkout.flow import EDITS
from bot.checkout.screens import review as screens
from bot.checkout.service import DraftService
from bot.checkout.steps.channel import list_channels
from bot.checkout.steps.handler import OutOfDate, TakeAnswer
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.telegram.ui.screen import Screen
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.destinations.screens import format_destination_health
from bot.orders.order import Order
from bot.orders.placement.service import ConfirmationOutdated, MethodVanished, OrderService
from bot.orders.repository import OrderRepository
from bot.orders.screens.formatting import format_channel
from bot.payments.tokens import LIGHTNING
from bot.recipients.formatting import format_method
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import ServiceDown
from bot.users.repository import UserRepository
from bot.users.session import Session
from bot.users.suggestions import suggest_phrase


class ReviewStep:
    """Show the review, and place the order that is confirmed."""

    def __init__(
        self,
        *,
        database: Database,
        catalogue: ServiceCatalogue,
        orders: OrderService,
        drafts: DraftService,
        destinations: DestinationHealthService,
    ) -> None:
        self._database = database
        self._catalogue = catalogue
        self._orders = orders
        self._drafts = drafts
        self._destinations = destinations

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {
            DraftAction.CHANGE: self._ask_what_to_change,
            DraftAction.EDIT: self._edit,
            DraftAction.CONFIRM: self._confirm,
        }

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the review at the current quote, which is saved with the draft: placing compares with it.

        Users without an anti-phishing phrase read the one that their invoice will have.
        """
        channels, _ = await asyncio.gather(list_channels(self._catalogue), self._catalogue.quote())
        offered = draft
        if draft.channel not in channels:
            session.notice = session.t("payments.channel.switched", channel=format_channel(session.t, draft.channel))
            offered = replace(draft, channel=LIGHTNING)
        reviewed, worth = await review_draft(self._orders, offered)
        if reviewed != draft:
            saved = await self._drafts.save(reviewed, session.update_id)
            if saved is None:
                raise OutOfDate
            reviewed = saved
        async with self._database.reading() as tx:
            is_first = not await OrderRepository(tx).of_user(session.user.id, limit=1)
        time_needed = await self._format_destination(session, reviewed)
        phrase = (await suggest_phrase(session)).text if session.user.phrase is None else None
        return screens.screen(
            session.t, reviewed, worth, session.zone, is_first=is_first, time_needed=time_needed, phrase=phrase
        )

    async def take_typed(self, _: Session, __: OrderDraft, ___: str) -> OrderDraft:
        """Point to the buttons."""
        raise Rejection("checkout.review.press")

    async def build_confirmed_screen(self, session: Session, order: Order) -> Screen:
        """Return the confirmed review. For a first order it explains the phrase on the invoice."""
        async with self._database.reading() as tx:
            session.user = await UserRepository(tx).get(session.user.id) or session.user
            is_first = len(await OrderRepository(tx).of_user(session.user.id, limit=2)) == 1
        phrase = session.user.phrase if is_first else None
        return screens.confirmed(session.t, order, phrase=phrase)

    async def _format_destination(self, session: Session, draft: OrderDraft) -> str | None:
        """Return how long transfers to the draft's destination take, or what is wrong there. None if it isn't known."""
        health = await self._destinations.get()
        known = health.of(draft.method) if health is not None else None
        return format_destination_health(session.t, known, session.now, session.t) if known is not None else None

    async def _ask_what_to_change(self, session: Session, draft: OrderDraft, _: str) -> Screen:
        """Offer the answers that can be changed. The draft stays at its review."""
        channels = await list_channels(self._catalogue)
        return screens.choose_change(session.t, draft, other_ways=len(channels) > 1)

    async def _edit(self, _: Session, draft: OrderDraft, name: str) -> OrderDraft:
        """Go to the question whose answer the user wants to change."""
        if name not in EDITS:
            raise OutOfDate
        return replace(draft, step=EDITS[name])

    async def _confirm(self, session: Session, draft: OrderDraft, argument: str) -> OrderDraft | Screen:
        """Place the order. Notifications report what follows. The button of a deposit names the reviewed sum."""
        if draft.channel not in await list_channels(self._catalogue):
            return draft
        reviewed_sats = int(argument) if argument.isascii() and argument.isdigit() else None
        return await self._place(session, replace(draft, message_id=session.message_id), reviewed_sats)

    async def _place(self, session: Session, draft: OrderDraft, reviewed_sats: int | None) -> OrderDraft | Screen:
        new_phrase = (await suggest_phrase(session)).text if session.user.phrase is None else None
        try:
            order = await place_draft(self._orders, draft, new_phrase, reviewed_sats)
        except ConfirmationOutdated:
            raise OutOfDate from None
        except MethodVanished:
            if not await self._catalogue.methods():  # an empty list says nothing about this destination
                raise ServiceDown from None
            session.notice = session.t("checkout.destination.vanished", name=format_method(draft.method))
            return without_method(draft)
        return await self.build_confirmed_screen(session, order)
