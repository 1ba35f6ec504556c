"""Answer inline queries: one's own open requests, and the price of a typed amount.

It only reads. What it has read of a user is kept for a few seconds, because each letter is a query.
"""

import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.core.errors import Rejection
from bot.core.money import Amount, parse_amount
from bot.core.text import plain
from bot.infra.feature import Infra
from bot.infra.i18n import Translator, translator_for
from bot.infra.telegram.ui.screen import InlineAnswer, InlineQuery, InlineResult
from bot.payment_requests import screens
from bot.payment_requests.model import PaymentRequest
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.screens import SHARED_CHARACTERS, format_query
from bot.rates.model import estimate
from bot.settlement.catalogue import ServiceCatalogue
from bot.users.model import User
from bot.users.repository import UserRepository

ASK: Final = "ask"
"""The word after `/start` with which the private chat begins a request."""

KEPT_SECONDS: Final = 3.0
MAX_KEPT: Final = 1_000
MAX_CHARACTERS: Final = 64


@dataclass(frozen=True, slots=True)
class _Asker:
    """A user with their requests, as they were read at a moment of the monotonic clock."""

    user: User | None
    requests: tuple[PaymentRequest, ...]
    read_at: float


class InlineAnswers:
    """Answer inline queries."""

    def __init__(self, infra: Infra, catalogue: ServiceCatalogue) -> None:
        self._infra = infra
        self._catalogue = catalogue
        self._known: OrderedDict[int, _Asker] = OrderedDict()

    async def answer(self, query: InlineQuery) -> InlineAnswer:
        """Return the price of a typed amount, and the user's open requests that fit the text."""
        asker, text = await self._read(query.user_id), plain(query.text)[:MAX_CHARACTERS]
        user = asker.user or User(
            id=query.user_id, created_at=self._infra.clock.now(), language_code=query.language_code
        )
        t, bot = translator_for(self._infra.translations, user), self._infra.messenger.username
        price = await self._find_price(t, text, bot)
        now = self._infra.clock.now()
        found = [screens.show_inline_request(t, each, now, bot) for each in self._find(asker, text, now)]
        return screens.with_start(t, tuple(filter(None, (price, *found))), ASK)

    def _find(self, asker: _Asker, text: str, now: datetime) -> list[PaymentRequest]:
        wanted = text.casefold()
        is_id = wanted.startswith("#") and len(wanted) == SHARED_CHARACTERS + 1
        return [
            each
            for each in asker.requests
            if each.is_payable(now) and (format_query(each) == wanted if is_id else _fits(each, wanted))
        ]

    async def _find_price(self, t: Translator, text: str, bot: str) -> InlineResult | None:
        amount = _read_rupiah(text)
        if amount is None:
            return None
        quote = await self._catalogue.quote_soon()
        if quote is None or quote.is_stale(self._infra.clock.now()):
            return None
        with suppress(Rejection):
            return screens.show_price(t, estimate(amount, quote), bot)
        return None

    async def _read(self, user_id: int) -> _Asker:
        known, moment = self._known.get(user_id), time.monotonic()
        if known is not None and moment - known.read_at < KEPT_SECONDS:
            return known
        async with self._infra.database.reading() as tx:
            user = await UserRepository(tx).get_if_readable(user_id)
            requests = await PaymentRequestRepository(tx).of_user(user_id)
        known = self._known[user_id] = _Asker(user, requests, moment)
        self._known.move_to_end(user_id)
        while len(self._known) > MAX_KEPT:
            self._known.popitem(last=False)
        return known


def _fits(request: PaymentRequest, wanted: str) -> bool:
    """Return whether the text is part of what the asker wrote, or the request's amount."""
    amount = _read_rupiah(wanted)
    if amount is not None:
        return request.idr in {None, amount.value}
    return wanted in f"{request.holder} {request.note or ''}".casefold()


def _read_rupiah(text: str) -> Amount | None:
    """Return the rupiah in the text, or None if it isn't clearly an amount in rupiah."""
    if not any(map(str.isdecimal, text)):
        return None
    try:
        amount = parse_amount(text)
    except Rejection:
        return None
    return amount if isinstance(amount, Amount) and amount.currency == "IDR" else None
