"""Ask for the amount: in rupiah, thousands, millions, sats or bitcoin. Ask about ambiguous ones and about dollars."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.open_draft import DOUBT, find_last_order, get_user_orders
from bot.checkout.screens import format_amount, format_choice, format_recipient_line, leave_row, text_key
from bot.checkout.steps import OutOfDate, TakeAnswer
from bot.core.errors import Remark
from bot.core.money import Ambiguous, Amount, ForeignCurrency, parse_amount
from bot.core.money.dollars import convert_dollars, find_dollars
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import quote_input
from bot.infra.telegram.ui.screen import Button, Screen, in_rows
from bot.orders.limits import TooManyOrders
from bot.orders.order import Order
from bot.orders.placement.service import OrderService
from bot.rates.model import Estimate
from bot.recipients.formatting import format_method
from bot.settlement.errors import SettlementFailure
from bot.users.session import Session

COMMON = (50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000)
EXAMPLE = 500_000
"""Rupiah whose price is shown before the amount is asked for."""

Choices = Mapping[Amount, Estimate | None]
"""Amounts that are offered, each with what it comes to. None while there is no quote."""


class AmountStep:
    """Ask for the amount."""

    def __init__(self, *, orders: OrderService) -> None:
        self._orders = orders

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.AMOUNT: self._choose}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question, with the last amount to this recipient and the common ones, if they are allowed."""
        user_orders, last = await self.read_user_orders(session), await find_last_order(session, draft)
        amounts = ([last.amount] if last is not None else []) + [Amount("IDR", idr) for idr in COMMON]
        choices = await estimate_choices(self._orders, user_orders, draft, dict.fromkeys(amounts))
        return ask_amount(session.t, draft, self._orders.rules.min_order_idr, choices)

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
        """Take the typed amount, or ask which reading of it is meant."""
        try:
            amount = parse_amount(text)
        except ForeignCurrency:
            asked = await self.ask_dollars(session, draft, text)
            if asked is None:
                raise
            return asked
        if isinstance(amount, Ambiguous):
            return await self.ask_which(session, draft, text, amount.readings)
        return await self.take_amount(session, draft, amount)

    async def ask_which(self, session: Session, draft: OrderDraft, text: str, readings: Iterable[Amount]) -> Screen:
        """Return the question which of the readings is meant. Only those that are allowed are offered.

        Raises:
            Rejection: none is allowed.
        """
        choices = await self._find_allowed(session, draft, tuple(readings))
        session[DOUBT] = Remark("checkout.amount.which", {"text": text})
        return show_readings(session.t, draft, text, choices)

    async def ask_dollars(self, session: Session, draft: OrderDraft, text: str) -> Screen | None:
        """Return the question whether the rupiah that the dollars in `text` come to are meant, or None.

        Raises:
            Rejection: none of the amounts is allowed.
        """
        found = find_dollars(text)
        if found is None:
            return None
        try:
            quote = await self._orders.catalogue.quote()
        except SettlementFailure:
            return None
        amounts = () if quote.usdc_idr is None else convert_dollars(found, quote.usdc_idr)
        if quote.usdc_idr is None or not amounts:
            return None
        choices = await self._find_allowed(session, draft, amounts)
        session[DOUBT] = Remark("checkout.amount.dollars", {"text": text, "amount": "", "rate": ""})
        return show_dollars(session.t, draft, found.text, choices, quote.usdc_idr)

    async def _find_allowed(self, session: Session, draft: OrderDraft, amounts: tuple[Amount, ...]) -> Choices:
        """Return the allowed amounts. Raise the `Rejection` of the last one if none is allowed."""
        user_orders = await self.read_user_orders(session)
        choices = await estimate_choices(self._orders, user_orders, draft, amounts)
        if not choices and amounts:
            await self._orders.estimate_order(user_orders, draft.method, amounts[-1], draft.channel)
        return choices

    async def _choose(self, session: Session, draft: OrderDraft, argument: str) -> OrderDraft:
        """Take the amount of a button."""
        currency, _slash, value = argument.partition("/")
        if currency not in {"IDR", "SAT"} or not value.isdecimal():
            raise OutOfDate
        return await self.take_amount(session, draft, Amount("SAT" if currency == "SAT" else "IDR", int(value)))

    async def read_user_orders(self, session: Session) -> Sequence[Order]:
        """Return the orders that count for the limits of who pays: the user."""
        return await get_user_orders(session)

    async def take_amount(self, session: Session, draft: OrderDraft, amount: Amount) -> OrderDraft:
        """Return the draft with this amount.

        Raises:
            Rejection: the amount is outside the limits. The rejection names a possible amount.
        """
        draft, user_orders = replace(draft, amount=amount), await self.read_user_orders(session)
        # Without a quote, or before the user can order again, the answer is kept: the review checks it again.
        with suppress(SettlementFailure, TooManyOrders):
            await self._orders.estimate_order(user_orders, draft.method, amount)
        return replace(draft, step=missing(draft))


async def estimate_choices(
    orders: OrderService, user_orders: Sequence[Order], draft: OrderDraft, amounts: Iterable[Amount]
) -> Choices:
    """Return the amounts that are allowed for this draft and user, with their prices. Without a quote, it has none.

    A question never waits long for a price.
    """
    wanted = tuple(amounts)
    if await orders.catalogue.quote_soon() is not None:
        with suppress(SettlementFailure):
            return await orders.estimate_choices(user_orders, draft.method, wanted, draft.channel)
    allowed = orders.rules.amounts_for(draft.method)
    return {each: None for each in wanted if each.currency == "SAT" or allowed.allow(each.value)}


def ask_amount(t: Translator, draft: OrderDraft, minimum: int, choices: Choices) -> Screen:
    """Return the question, with a button for each amount, which has its price."""
    recipient = format_recipient_line(t, draft) if draft.number else format_method(draft.method)
    asked = t(text_key(draft, "checkout.amount.ask"), recipient=recipient).strip()
    limits = t(text_key(draft, "checkout.amount.limits"), minimum=t.rupiah(minimum))
    return _choice(t, draft, f"{asked}\n{limits}", choices)


def show_readings(t: Translator, draft: OrderDraft, text: str, choices: Choices) -> Screen:
    """Return the question which of these amounts the typed text means, with a button for each."""
    if len(choices) == 1:
        asked = t("checkout.amount.is_it", text=quote_input(text), amount=format_amount(t, next(iter(choices))))
    else:
        asked = t("checkout.amount.which", text=quote_input(text))
    return _choice(t, draft, asked, choices)


def show_dollars(t: Translator, draft: OrderDraft, text: str, choices: Choices, usdc_idr: Decimal) -> Screen:
    """Return the question whether the rupiah that these dollars come to are meant. They are never taken unasked."""
    about = "/".join(format_amount(t, amount) for amount in choices)
    asked = t("checkout.amount.dollars", text=quote_input(text), amount=about, rate=t.rate(usdc_idr))
    return _choice(t, draft, asked, choices)


def show_price(t: Translator, draft: OrderDraft, choices: Choices) -> Html | None:
    """Return the line with the price of an amount, for the questions before the one for the amount."""
    prices = [format_choice(t, *choice, draft.channel) for choice in choices.items() if choice[1] is not None]
    return t("checkout.amount.example", price=prices[0]) if prices else None


def _choice(t: Translator, draft: OrderDraft, asked: str, choices: Choices) -> Screen:
    buttons = [
        Button(
            format_choice(t, amount, estimated, draft.channel),
            data=draft_data(draft, DraftAction.AMOUNT, f"{amount.currency}/{amount.value}"),
        )
        for amount, estimated in choices.items()
    ]
    return Screen(asked, (*in_rows(buttons, 1 if any(choices.values()) else 2), leave_row(t, draft)))
