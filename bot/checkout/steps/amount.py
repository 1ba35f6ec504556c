"""Ask for the amount: in rupiah, thousands, millions, sats or bitcoin. Ask about ambiguous ones and about dollars."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.screens.formatting import format_amount, format_recipient_line, text_key
from bot.checkout.screens.parts import leave_row
from bot.checkout.sender import get_placed
from bot.checkout.steps.handler import OutOfDate, TakeAnswer
from bot.core.money import Ambiguous, Amount, ForeignCurrency, parse_amount
from bot.core.money.dollars import convert_dollars, find_dollars
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.limits import TooManyOrders
from bot.orders.order import Order
from bot.orders.placement.service import OrderService
from bot.orders.screens.formatting import format_price
from bot.rates.model import Estimate
from bot.recipients.formatting import format_method
from bot.settlement.model import SettlementFailure
from bot.users.session import Session

COLUMNS = 2
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
        """Return the question, with the common amounts that are allowed."""
        placed = await self.read_placed(session)
        choices = await price_choices(self._orders, placed, draft, (Amount("IDR", idr) for idr in COMMON))
        return show_question(session.t, draft, self._orders.rules.min_order_idr, choices)

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
        return show_readings(session.t, draft, text, await self._find_allowed(session, draft, tuple(readings)))

    async def ask_dollars(self, session: Session, draft: OrderDraft, text: str) -> Screen | None:
        """Return the question whether the rupiah that the dollars in `text` come to are meant, or None.

        Raises:
            Rejection: none of the sums is allowed.
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
        return show_dollars(session.t, draft, found.text, choices, quote.usdc_idr)

    async def _find_allowed(self, session: Session, draft: OrderDraft, amounts: tuple[Amount, ...]) -> Choices:
        """Return the allowed amounts. Raise the `Rejection` of the last one if none is allowed."""
        placed = await self.read_placed(session)
        choices = await price_choices(self._orders, placed, draft, amounts)
        if not choices and amounts:
            await self._orders.estimate_order(placed, draft.method, amounts[-1], draft.channel)
        return choices

    async def _choose(self, session: Session, draft: OrderDraft, argument: str) -> OrderDraft:
        """Take the amount of a button."""
        currency, _slash, value = argument.partition("/")
        if currency not in {"IDR", "SAT"} or not value.isdecimal():
            raise OutOfDate
        return await self.take_amount(session, draft, Amount("SAT" if currency == "SAT" else "IDR", int(value)))

    async def read_placed(self, session: Session) -> Sequence[Order]:
        """Return the orders that count for the limits of who pays: the user."""
        return await get_placed(session)

    async def take_amount(self, session: Session, draft: OrderDraft, amount: Amount) -> OrderDraft:
        """Return the draft with this amount.

        Raises:
            Rejection: the amount is outside the limits. The rejection names a possible amount.
        """
        draft, placed = replace(draft, amount=amount), await self.read_placed(session)
        # Without a quote, or before the user can order again, the answer is kept: the review checks it again.
        with suppress(SettlementFailure, TooManyOrders):
            await self._orders.estimate_order(placed, draft.method, amount)
        return replace(draft, step=missing(draft))


async def price_choices(
    orders: OrderService, placed: Sequence[Order], draft: OrderDraft, amounts: Iterable[Amount]
) -> Choices:
    """Return the amounts that are allowed for this draft and user, with their prices. Without a quote, it has none.

    A question never waits long for a price.
    """
    wanted = tuple(amounts)
    if await orders.catalogue.quote_soon() is not None:
        with suppress(SettlementFailure):
            return await orders.price_choices(placed, draft.method, wanted, draft.channel)
    allowed = orders.rules.amounts_for(draft.method)
    return {each: None for each in wanted if each.currency == "SAT" or allowed.allow(each.value)}


def show_question(t: Translator, draft: OrderDraft, minimum: int, choices: Choices) -> Screen:
    """Return the question, with the price of each common amount and a button for it."""
    recipient = format_recipient_line(t, draft) if draft.number else format_method(draft.method)
    asked = t(text_key(draft, "checkout.amount.ask"), recipient=recipient).strip()
    limits = t(text_key(draft, "checkout.amount.limits"), minimum=t.rupiah(minimum))
    text = "\n\n".join(filter(None, (asked, _list_prices(t, draft, choices), limits)))
    return Screen(text, (*_buttons(t, draft, choices), leave_row(t, draft)))


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
    return t("checkout.amount.example", price=prices) if (prices := _list_prices(t, draft, choices)) else None


def _choice(t: Translator, draft: OrderDraft, asked: Html, choices: Choices) -> Screen:
    text = "\n\n".join(filter(None, (asked, _list_prices(t, draft, choices))))
    return Screen(text, (*_buttons(t, draft, choices), leave_row(t, draft)))


def _list_prices(t: Translator, draft: OrderDraft, choices: Choices) -> Html:
    """Return a line for each amount: "Rp500,000 ≈ 31,243 sats", "25,000 sats ≈ Rp400,120"."""
    lines = (
        t(
            "checkout.amount.price",
            amount=format_amount(t, amount),
            price=t.rupiah(worth.idr) if amount.currency == "SAT" else format_price(t, worth.sats, draft.channel),
        )
        for amount, worth in choices.items()
        if worth is not None
    )
    return Html("\n".join(lines))


def _buttons(t: Translator, draft: OrderDraft, choices: Choices) -> Keyboard:
    buttons = [
        Button(format_amount(t, a), data=draft_data(draft, DraftAction.AMOUNT, f"{a.currency}/{a.value}"))
        for a in choices
    ]
    return tuple(tuple(buttons[i : i + COLUMNS]) for i in range(0, len(buttons), COLUMNS))
