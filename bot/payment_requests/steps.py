"""The questions of a draft that becomes a payment request, where they differ from those of an order, and its review."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft, RequestTerms, Step
from bot.checkout.flow import missing
from bot.checkout.open_draft import DRAFT
from bot.checkout.service import DraftService
from bot.checkout.steps import OutOfDate, TakeAnswer
from bot.checkout.steps.amount import AmountStep
from bot.checkout.steps.recipient import ask_holder, list_methods, read_name, with_holder
from bot.checkout.steps.review import edit_answer, show_changes
from bot.core.errors import Rejection
from bot.core.money import Amount, AmountRejected
from bot.core.time_of_day import read_moment
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.placement.service import OrderService
from bot.payment_requests import screens
from bot.payment_requests.model import PaymentRequestRules
from bot.payment_requests.service import PaymentRequestService
from bot.payment_requests.wording import check_name, read_note
from bot.settlement.catalogue import ServiceCatalogue
from bot.users.session import Session


class RequestAmountStep(AmountStep):
    """Ask for the amount as for an order. The limits of who pays aren't known yet."""

    def __init__(self, *, orders: OrderService) -> None:
        super().__init__(orders=orders)
        self._rules = orders.rules

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {**super().buttons, DraftAction.SKIP: self._leave_open}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question, with the choice that the payer decides."""
        return screens.add_open_amount(session.t, draft, await super().show(session, draft))

    async def read_user_orders(self, _: Session) -> Sequence[Order]:
        """Return no orders, because somebody else will pay."""
        return ()

    async def take_amount(self, _: Session, draft: OrderDraft, amount: Amount) -> OrderDraft:
        """Return the draft with this amount.

        Raises:
            AmountRejected: it isn't in rupiah, or outside the limits of one order.
        """
        if amount.currency != "IDR":
            raise AmountRejected("payment_requests.amount.only_rupiah")
        self._rules.check_amount(draft.method, idr=amount.value, sats=0)
        return _with(draft, amount)

    async def _leave_open(self, _: Session, draft: OrderDraft, __: str) -> OrderDraft:
        """Let the payer decide."""
        return _with(draft, None)


def _with(draft: OrderDraft, amount: Amount | None) -> OrderDraft:
    terms = replace(draft.terms or RequestTerms(), payer_decides=amount is None)
    filled = replace(draft, amount=amount, terms=terms)
    return replace(filled, step=missing(filled))


class RequestHolderStep:
    """Ask for the holder's name, which can't be skipped here."""

    def __init__(self, *, catalogue: ServiceCatalogue, rules: PaymentRequestRules) -> None:
        self._catalogue = catalogue
        self._rules = rules

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button: there is none."""
        return {}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return ask_holder(session.t, draft)

    async def take_typed(self, _: Session, draft: OrderDraft, text: str) -> OrderDraft:
        """Take the typed name.

        Raises:
            Rejection: it is no name, or not one in which a user can ask.
        """
        name = read_name(text)
        await self.check(name)
        return with_holder(draft, name)

    async def check(self, name: str) -> None:
        """Raise a `Rejection` if nobody can ask in this name."""
        check_name(name, await list_methods(self._catalogue), self._rules.operator_name)


DAYS_OFFERED: Final = frozenset(map(str, screens.DAYS))


class NoteStep:
    """Ask for a note that payers read."""

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.SKIP: self._skip}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return screens.ask_note(session.t, draft)

    async def take_typed(self, _: Session, draft: OrderDraft, text: str) -> OrderDraft:
        """Take the typed note. Raises the `Rejection`s of `read_note`."""
        return with_terms(draft, note=read_note(text), note_asked=True)

    async def _skip(self, _: Session, draft: OrderDraft, __: str) -> OrderDraft:
        """Go on without a note."""
        return with_terms(draft, note=None, note_asked=True)


class UsesStep:
    """Ask whether the request can be paid once or many times."""

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.USES: self._choose}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return screens.ask_uses(session.t, draft)

    async def take_typed(self, _: Session, __: OrderDraft, ___: str) -> OrderDraft:
        """Point to the buttons."""
        raise Rejection("payment_requests.uses.press")

    async def _choose(self, session: Session, draft: OrderDraft, argument: str) -> OrderDraft:
        """Take how often it can be paid. The first review comes below the answers that were typed."""
        if argument not in {screens.ONCE, screens.MANY}:
            raise OutOfDate
        if draft.terms is None or draft.terms.is_reusable is None:
            session.message_id = None
        return with_terms(draft, is_reusable=argument == screens.MANY)


class EndStep:
    """Ask until when the request can be paid."""

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.END: self._choose}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return screens.ask_end(session.t, draft)

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft:
        """Take a typed day and time. Raises the `Rejection`s of `read_moment`."""
        return with_terms(draft, ends_at=read_moment(text, session.now, session.zone))

    async def _choose(self, session: Session, draft: OrderDraft, days: str) -> OrderDraft:
        """Take one of the ends on offer."""
        return with_terms(draft, ends_at=end_after(days, session.now))


def end_after(days: str, now: datetime) -> datetime | None:
    """Return the end that a button offers, or None for no end.

    Raises:
        OutOfDate: no button offers it.
    """
    if days not in DAYS_OFFERED:
        raise OutOfDate
    return now + timedelta(days=int(days)) if int(days) else None


def with_terms(draft: OrderDraft, **changes: object) -> OrderDraft:
    """Return the draft with other terms. It asks for what is missing next."""
    changed = replace(draft, terms=replace(draft.terms or RequestTerms(), **changes))  # type: ignore[arg-type]
    return replace(changed, step=missing(changed))


class RequestReviewStep:
    """Show the review, and make the request that is confirmed."""

    def __init__(
        self,
        *,
        drafts: DraftService,
        requests: PaymentRequestService,
        holder: RequestHolderStep,
        amount: RequestAmountStep,
    ) -> None:
        self._drafts = drafts
        self._requests = requests
        self._holder = holder
        self._amount = amount

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {
            DraftAction.CHANGE: self._ask_what_to_change,
            DraftAction.EDIT: edit_answer,
            DraftAction.CONFIRM: self._confirm,
        }

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the review. Ask again for a name that was known before, or a line's reference, that can't be used.

        Raises:
            AmountRejected: a payer couldn't pay the amount of a line.
        """
        try:
            await self._holder.check(draft.holder or "")
        except Rejection as rejection:
            unnamed = replace(draft, holder=None, holder_asked=False, step=Step.HOLDER)
            return await self._ask_again(session, unnamed, self._holder, rejection)
        try:
            if draft.terms is not None and draft.terms.note is not None:
                read_note(draft.terms.note)
        except Rejection as rejection:
            unnoted = with_terms(draft, note=None, note_asked=False)
            return await self._ask_again(session, unnoted, NoteStep(), rejection)
        if draft.amount is not None:  # of a line
            await self._amount.take_amount(session, draft, draft.amount)
        return screens.show_review(session.reader, draft)

    async def take_typed(self, _: Session, __: OrderDraft, ___: str) -> OrderDraft:
        """Point to the buttons."""
        raise Rejection("checkout.review.press")

    async def _ask_again(
        self, session: Session, draft: OrderDraft, step: RequestHolderStep | NoteStep, rejection: Rejection
    ) -> Screen:
        session.notice = session.format_rejection(rejection)
        saved = await self._drafts.save(draft, session.update_id)
        if saved is None:
            raise OutOfDate
        session[DRAFT] = saved
        return await step.show(session, saved)

    async def _ask_what_to_change(self, session: Session, draft: OrderDraft, _: str) -> Screen:
        """Offer the answers that can be changed. The draft stays at its review."""
        return show_changes(session.t, draft)

    async def _confirm(self, session: Session, draft: OrderDraft, _: str) -> OrderDraft | Screen:
        """Make the request. Its card is a message of its own.

        Raises:
            Rejection: the user has too many open requests, or the end has passed.
        """
        await self._holder.check(draft.holder or "")
        request = await self._requests.create(replace(draft, message_id=session.message_id))
        if request is None:
            raise OutOfDate
        session[DRAFT] = None
        return screens.show_confirmed(session.t, request)
