"""What a payer without a chat does on the page of an order: answer what a chat would ask, and say how to be reached.

Whoever knows the address of a page sees it. What is the payer's alone needs the secret of the payer, in the cookie that
the order's page was opened with, or the preimage of its payment, which wallets show.
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from bot.core.text import plain
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.orders.buttons import OrderAction
from bot.orders.notifications import OrderNotification
from bot.orders.order import HoldReason, Order, OrderStatus, Phase, payer_on_page
from bot.orders.pay_page.rendering import ASKED, is_of_page
from bot.orders.placement.service import OrderService
from bot.orders.repository import OrderRepository
from bot.orders.screens.order_messages import ANSWERS, QUESTION_OF, show_status_or_question

COOKIE: Final = "payer"
COOKIE_SECONDS: Final = 30 * 24 * 3600
MAX_CONTACT: Final = 140
"""Characters."""

SAVES: Final = 5
"""How often it is tried to save it, if tracking saves the order at the same moment."""

IN_TROUBLE: Final = frozenset({OrderStatus.FAILED_PAID, OrderStatus.FAILED_UNKNOWN, OrderStatus.FAILED_UNPAID})
OVER: Final = frozenset({OrderStatus.CLOSED, OrderStatus.EXPIRED, OrderStatus.REFUSED, OrderStatus.FAILED_UNPAID})
"""The statuses in which the price of now is offered."""

UNREACHABLE: Final = frozenset({*OVER, *ASKED, OrderStatus.PLACING, OrderStatus.SENT}) - {OrderStatus.EXPIRED}
"""The statuses in which nobody needs to reach the payer: nothing can have been paid, or it has arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginLinks:
    """Where a payer gets the price of now, if they can, and reports who asked, relative to the order's page."""

    again: str | None
    report: str


FindOrigin = Callable[[Order], Awaitable[OriginLinks | None]]


async def _nowhere(_: Order) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayersOfPages:
    """What the pages of payers without a chat need. `contact` is how support is reached, or empty."""

    orders: OrderService
    find_origin: FindOrigin = _nowhere
    contact: str = ""


def is_payer(order: Order, proof: str | None) -> bool:
    """Return whether `proof` is the secret of the order's payer, or the preimage of its payment."""
    if not proof or not is_of_page(order):
        return False
    return order.payer == payer_on_page(proof) or _is_preimage(order, proof)


def _is_preimage(order: Order, text: str) -> bool:
    try:
        preimage = bytes.fromhex(text)
    except ValueError:
        return False
    return order.payment_hash is not None and hashlib.sha256(preimage).hexdigest() == order.payment_hash.lower()


def set_cookie(answer: Response, public_url: str, path: str, secret: str) -> None:
    """Let the browser send a payer's secret to this path of the public address, and to nowhere else."""
    parts = urlsplit(public_url)
    answer.set_cookie(
        COOKIE,
        secret,
        max_age=COOKIE_SECONDS,
        path=f"{parts.path}{path}",
        secure=parts.scheme == "https",
        httponly=True,
        samesite="strict",
    )


async def read_form(request: Request) -> Mapping[str, str]:
    """Return the first value of each field of a posted form."""
    try:
        fields = parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise HTTPException(400) from None
    return {name: values[0] for name, values in fields.items()}


class PageHtml(str):
    """HTML that templates don't escape again. A translator has escaped its arguments."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the text as templates ask for it."""
        return str(self)


def to_page(text: Html) -> PageHtml:
    """Return a text of a chat for a page."""
    return PageHtml(text.replace("\n", "<br>"))


def _ask(t: Translator, order: Order, now: datetime) -> dict[str, object]:
    """Return the question that the payer would be asked in a chat, with its answers."""
    is_found = order.phase is Phase.NEEDS_CONFIRMATION
    kind = QUESTION_OF[order.hold_reason or HoldReason.PRICE_CHANGED] if is_found else OrderNotification.UNRESOLVED
    return {
        "question": to_page(Html(show_status_or_question(Reader(t, PRESUMED, now), order, help_offered=False).text)),
        "answers": [(action.value, t.plain(label)) for label, action in ANSWERS[kind]],
    }


class PayerAnswers:
    """Describe what a payer can do on a page, and do it."""

    def __init__(self, database: Database, payers: PayersOfPages) -> None:
        self._database = database
        self._payers = payers

    async def describe(
        self, t: Translator, order: Order, status: OrderStatus, now: datetime, *, is_known: bool, said: Html | None
    ) -> dict[str, object]:
        """Return what the page has for the payer. `is_known` says whether the reader is known as the payer."""
        values: dict[str, object] = dict.fromkeys(
            ("question", "again", "trouble", "answer", "contact", "prove", "report")
        )
        values["said"] = said and to_page(said)
        whole = await self._get(order.reference) if is_known else None
        if status in ASKED:
            values |= _ask(t, whole, now) if whole else {"trouble": t.plain("orders.pay_page.payer.asked")}
        origin = await self._payers.find_origin(order) if is_known or status in OVER else None
        if origin is not None and origin.again is not None and status in OVER:
            values["again"] = (t.plain("orders.button.requote"), origin.again)
        if origin is not None and is_known:
            values["report"] = (t.plain("orders.pay_page.payer.report"), origin.report)
        if status in IN_TROUBLE or order.is_overdue:
            key = "orders.pay_page.payer.trouble_at" if self._payers.contact else "orders.pay_page.payer.trouble"
            values["trouble"] = t.plain(key, reference=order.reference, contact=self._payers.contact)
        if whole is not None and whole.answer:
            values["answer"] = (t.plain("orders.pay_page.payer.answer"), whole.answer)
        if whole is not None and status not in UNREACHABLE:
            values["contact"] = {
                "label": t.plain("orders.pay_page.payer.contact"),
                # It isn't shown: who asks for the money can have made the order, and given its page to the payer.
                "why": t.plain(f"orders.pay_page.payer.contact_{'saved' if whole.contact else 'why'}"),
                "save": t.plain("orders.pay_page.payer.contact_save"),
                "longest": MAX_CONTACT,
            }
        if not is_known and (status in ASKED or status not in UNREACHABLE):
            names = ("title", "open") if status in ASKED else ("title", "open", "label", "send")
            values["prove"] = {name: t.plain(f"orders.pay_page.payer.prove_{name}") for name in names}
        return values

    async def take(self, order: Order, form: Mapping[str, str]) -> Order | None:
        """Do what a known payer has asked for, and return the order whose page follows. None: nothing to do.

        Raises `Rejection`, `MethodVanished` and `SettlementFailure` as `OrderService` does. Then the question stays.
        """
        orders = self._payers.orders
        match form.get("answer"):
            case OrderAction.ACCEPT:
                return await orders.accept(order.reference)
            case OrderAction.TRY_AGAIN:
                return await orders.try_again(order.reference)
            case OrderAction.DROP:
                await orders.drop(order.reference)
        if "contact" in form:
            await self._save_contact(order.reference, plain(form["contact"])[:MAX_CONTACT])
        return None

    async def _save_contact(self, reference: str, contact: str) -> None:
        for _ in range(SAVES):
            async with self._database.transaction() as tx:
                order = await OrderRepository(tx).get(reference)
                if order is None or await OrderRepository(tx).save(replace(order, contact=contact or None)):
                    return

    async def _get(self, reference: str) -> Order | None:
        async with self._database.reading() as tx:
            return await OrderRepository(tx).get(reference)
