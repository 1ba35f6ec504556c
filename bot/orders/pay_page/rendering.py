"""Render the pages as HTML: a payment with its status, a receipt, the check of a code, or a short notice.

The templates contain the markup, and this module provides the texts. The pages work without JavaScript. The script
only counts down, copies, and updates the status.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from bot.core.locales import FALLBACK, find_locale
from bot.core.zones import PRESUMED
from bot.infra.i18n import LOCALES, Translator, other_locales
from bot.orders.destinations.model import DestinationHealth, PayoutTimes
from bot.orders.destinations.screens import format_destination_health, format_payout_times
from bot.orders.order import Order, OrderStatus
from bot.orders.receipts import screens
from bot.orders.receipts.codes import VERIFY_PATH, ReceiptLinks, SentOrder, compact_code, form_address, receipt_url
from bot.orders.receipts.screens import ReceiptFacts
from bot.orders.screens.formatting import format_price
from bot.orders.screens.payment import PaymentDetails, Transfer
from bot.settlement.model import OrderStep
from bot.users.model import Provider

IN_PROGRESS = (
    OrderStatus.WAITING,
    OrderStatus.PAID,
    OrderStatus.CONVERTING,
    OrderStatus.SENDING,
    OrderStatus.SENT,
)
SHOWN: Final = frozenset(
    {
        *IN_PROGRESS,
        OrderStatus.FAILED_PAID,
        OrderStatus.FAILED_UNKNOWN,
        OrderStatus.FAILED_UNPAID,
        OrderStatus.EXPIRED,
        OrderStatus.CLOSED,
    }
)
"""The statuses that a page shows. All others are shown as closed."""

STEPS = (OrderStep.CONVERTING, OrderStep.SENDING, OrderStep.SENT)
POLL_SECONDS = {
    OrderStatus.PLACING: 2,
    OrderStatus.WAITING: 2,
    OrderStatus.PAID: 3,
    OrderStatus.CONVERTING: 3,
    OrderStatus.SENDING: 3,
    OrderStatus.EXPIRED: 15,
}
"""Seconds between two requests of a page, by status. An expired page still polls for a late payment."""


ON_PAGE: Final = {
    OrderStatus.PLACING: OrderStatus.PLACING,
    OrderStatus.CHECKING: OrderStatus.PLACING,
    OrderStatus.UNRESOLVED: OrderStatus.UNRESOLVED,
    OrderStatus.NEEDS_CONFIRMATION: OrderStatus.NEEDS_CONFIRMATION,
    OrderStatus.REFUSED: OrderStatus.REFUSED,
}
"""The statuses that only the page of a payer without a chat shows. In a chat, messages say the same."""

ASKED: Final = frozenset({OrderStatus.UNRESOLVED, OrderStatus.NEEDS_CONFIRMATION})
"""The statuses in which the payer has to answer a question."""

FOR_PAYER: Final = frozenset(
    {
        *ON_PAGE.values(),
        OrderStatus.CLOSED,
        OrderStatus.EXPIRED,
        OrderStatus.FAILED_PAID,
        OrderStatus.FAILED_UNKNOWN,
        OrderStatus.FAILED_UNPAID,
    }
)
"""The statuses whose texts are others without a chat."""


def is_of_page(order: Order) -> bool:
    """Return whether the payer of an order has no chat."""
    return order.payer.secret_hash is not None


def shown_status(order: Order, now: datetime) -> OrderStatus:
    """Return the status that the page of `order` shows. Only with `WAITING` may the page show an invoice or deposit."""
    status = order.status(now)
    if is_of_page(order) and status in ON_PAGE:
        return ON_PAGE[status]
    if status is OrderStatus.FAILED_UNPAID and order.is_expired(now):
        return OrderStatus.EXPIRED
    return status if status in SHOWN else OrderStatus.CLOSED


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """A line of the timeline. `progress` is "done", "now" or "next"."""

    name: str
    progress: str


@dataclass(frozen=True)
class StatusText:
    """The texts of a status in one language, for the page and its script. They contain nothing about an order."""

    state: OrderStatus
    heading: str
    text: str
    steps: tuple[TimelineStep, ...]
    again: int | None

    @cached_property
    def body(self) -> bytes:
        """The texts as JSON, for the page's script."""
        return json.dumps(asdict(self), ensure_ascii=False).encode()

    @cached_property
    def etag(self) -> str:
        """The version of the texts. The script sends it, and gets no texts if the status hasn't changed."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


def describe_status(t: Translator, status: OrderStatus, *, of_page: bool = False) -> StatusText:
    """Return the texts of a status in `SHOWN`, or of one that only `of_page`s, of payers without a chat, show."""
    return StatusText(
        state=status,
        heading=t.plain(f"orders.pay_page.{status}"),
        text=t.plain(f"orders.pay_page.{'payer.' if of_page and status in FOR_PAYER else ''}{status}_text"),
        steps=_steps(t, status),
        again=POLL_SECONDS.get(status),
    )


def _steps(t: Translator, status: OrderStatus) -> tuple[TimelineStep, ...]:
    """Return the timeline from the payment on, or nothing if the order failed or expired."""
    if status not in IN_PROGRESS:
        return ()
    names = [t.plain("orders.step.payment" if status is OrderStatus.WAITING else "orders.step.paid")]
    names += [t.plain(f"orders.step.{step.name.lower()}") for step in STEPS]
    # Paid and not yet converting: the payment is done, and the next step is in progress.
    reached = {
        OrderStatus.WAITING: 0,
        OrderStatus.PAID: 1,
        OrderStatus.CONVERTING: 1,
        OrderStatus.SENDING: 2,
        OrderStatus.SENT: 4,
    }[status]
    return tuple(TimelineStep(name, _progress(place, reached)) for place, name in enumerate(names))


def _progress(place: int, reached: int) -> str:
    if place == reached:
        return "now"
    return "done" if place < reached else "next"


PARAMETER = "l"
MAX_READ = 10


def language_of(request: Request) -> str:
    """Return the locale of an answer."""
    preferred = [request.query_params.get(PARAMETER), *_preferred(request.headers.get("accept-language", ""))]
    return next(filter(None, map(find_locale, preferred)), FALLBACK)


def _preferred(header: str) -> list[str]:
    weighed = []
    for part in header.split(",")[:MAX_READ]:
        tag, _, weight = part.partition(";")
        weighed.append((_weight(weight), tag.strip()))
    return [tag for weight, tag in sorted(weighed, key=lambda each: -each[0]) if tag and weight > 0]


def _weight(text: str) -> float:
    try:
        return float(text.strip().removeprefix("q=")) if text.strip() else 1.0
    except ValueError:
        return 0.0


FOLDER = Path(__file__).parent / "static"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FOR_A_YEAR = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class File:
    """One file. `version` changes with its content."""

    content: bytes
    kind: str
    version: str


class Files:
    """Serve the files of the folder `static`."""

    def __init__(self) -> None:
        self._files = {path.name: _read(path) for path in FOLDER.iterdir() if path.suffix in TYPES}

    def link(self, name: str) -> str:
        """Return the relative address of a file, so that it works behind any path prefix of a proxy."""
        return f"../static/{name}?v={self._files[name].version}"

    async def answer(self, request: Request) -> Response:
        """Answer with the file, or with 404."""
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise HTTPException(404)
        return Response(file.content, media_type=file.kind, headers={"cache-control": FOR_A_YEAR})


def _read(path: Path) -> File:
    content = path.read_bytes()
    return File(content, TYPES[path.suffix], hashlib.sha256(content).hexdigest()[:12])


OWN_TEMPLATES: Final = Path(__file__).parent / "templates"
TEMPLATES: Final = Environment(
    loader=FileSystemLoader(OWN_TEMPLATES),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def extend_templates(folder: Path) -> Environment:
    """Return the templates of this folder, which can extend those of payment pages."""
    return TEMPLATES.overlay(loader=FileSystemLoader([folder, OWN_TEMPLATES]))


REFRESH_SECONDS = 20
"""After how many seconds a page without JavaScript reloads. It reloads earlier if its invoice expires."""


@dataclass(frozen=True, slots=True)
class Site:
    """What all pages share: the files that they load, who runs the bot, its address, and the bot's name.

    `bot` is the name without its @, or "" if it isn't known.
    """

    files: Files
    provider: Provider
    public_url: str = ""
    bot: str = ""


@dataclass(frozen=True, slots=True)
class ShownPayment:
    """A payment to show. `details` is None unless the order can be paid.

    `times` are of all destinations, and shown if nothing is known of the order's own. `of_payer` is what the page of a
    payer without a chat has besides.
    """

    order: Order
    status: StatusText
    details: PaymentDetails | None
    now: datetime
    times: PayoutTimes | None = None
    destination: DestinationHealth | None = None
    of_payer: dict[str, object] | None = None

    @property
    def seconds_remaining(self) -> float | None:
        """The seconds until the expiry, or None if there is none."""
        return (self.order.expires_at - self.now).total_seconds() if self.order.expires_at else None


def render_payment(t: Translator, shown: ShownPayment, site: Site) -> str:
    """Return the page of one payment."""
    status, token = shown.status, shown.order.page_token or ""
    values = common_values(t, site)
    if shown.of_payer is not None:
        values["chat"] = None
    return TEMPLATES.get_template("payment.html").render(
        values,
        payer=shown.of_payer,
        status=status,
        data={
            "data-state": status.state,
            "data-look": f"{token}/state?{PARAMETER}={t.locale}",
            "data-again": status.again,
            "data-now": _milliseconds(shown.now),
            **({"data-payer": ""} if shown.of_payer is not None else {}),
            **(_expiry(t, shown) if shown.details else {}),
        },
        refresh=_refresh(shown),
        offline=t.plain("orders.pay_page.offline"),
        copied=t.plain("orders.pay_page.copied"),
        amounts=_amounts(t, shown),
        pay=_pay(t, shown, shown.details, token) if shown.details else None,
    )


def render_notice(t: Translator, site: Site, heading: str, text: str) -> str:
    """Return a page with only a heading and a text."""
    return TEMPLATES.get_template("notice.html").render(common_values(t, site), heading=heading, text=text)


def common_values(t: Translator, site: Site) -> dict[str, object]:
    """Return what every page shows: the languages, the way to the chat, and who runs the bot, if that is set."""
    provider = site.provider
    return {
        "locale": t.locale,
        "title": t.plain("orders.pay_page.title"),
        "link": site.files.link,
        "language_parameter": PARAMETER,
        "languages": [(other, LOCALES[other].name) for other in other_locales(t.locale)],
        "provider": t.plain("users.provider.name", name=provider.name) if provider.name else None,
        "links": [(t.plain(key), url) for key, url in provider.links],
        "chat": (t.plain("orders.pay_page.chat"), f"https://t.me/{site.bot}") if site.bot else None,
    }


def _expiry(t: Translator, shown: ShownPayment) -> dict[str, object]:
    """Return when the invoice expires, and the texts that the script shows then if the server can't be reached."""
    expired = describe_status(t, OrderStatus.EXPIRED, of_page=is_of_page(shown.order))
    return {
        "data-expires": _milliseconds(shown.order.expires_at),
        "data-expired": expired.heading,
        "data-expired-text": expired.text,
    }


def _amounts(t: Translator, shown: ShownPayment) -> list[str]:
    """Return the amounts: what to pay, and what the recipient gets."""
    order = shown.order
    return [
        format_price(t, order.sats or order.expected_sats, order.channel),
        t.plain("orders.pay_page.to_send", amount=t.rupiah(order.idr or order.expected_idr)),
    ]


def _pay(t: Translator, shown: ShownPayment, details: PaymentDetails, token: str) -> dict[str, object]:
    keys = ("payer.safe",) if shown.of_payer is not None else ("safe", "for_payer")
    hints = [t.plain(f"orders.pay_page.{key}") for key in keys]
    known = shown.destination and format_destination_health(t, shown.destination, shown.now, t.plain)
    if known:
        hints.append(known)
    elif shown.times:
        hints.append(format_payout_times(t, shown.times))
    return {
        "countdown": _countdown(t, shown),
        "link": details.link,
        "open_wallet": t.plain("orders.pay_page.open_wallet"),
        "transfer": _transfer(t, details.transfer) if details.transfer else None,
        "invoice": details.text,
        "invoice_label": t.plain("orders.pay_page.invoice"),
        "copy_invoice": t.plain("orders.pay_page.copy_invoice"),
        "qr": f"{token}/qr.png",
        "qr_label": t.plain("orders.pay_page.qr"),
        "hints": hints,
    }


def _countdown(t: Translator, shown: ShownPayment) -> dict[str, object] | None:
    expires = shown.order.expires_at
    if expires is None:
        return None
    return {
        "text": t.plain("orders.pay_page.expires", soon=t.until(expires, shown.now)),
        "words": t.plain("orders.pay_page.countdown", time="{time}"),
        "span": int(max((expires - shown.order.created_at).total_seconds(), 1)),
        "seconds": max(int(shown.seconds_remaining or 0), 0),
    }


def _transfer(t: Translator, transfer: Transfer) -> dict[str, object]:
    """Return the texts and the parts of a transfer. A part has a name, a value, and an id if it can be copied."""
    token = transfer.token
    network = t.plain("orders.pay_page.on_network", network=token.chain.name, chain_id=str(token.chain.id))
    return {
        "copy_address": t.plain("orders.pay.copy_address"),
        "copy_amount": t.plain("orders.pay.copy_amount"),
        "parts": [
            (t.plain("orders.pay_page.amount"), transfer.amount, "amount"),
            (t.plain("orders.pay_page.token"), f"{token.symbol} · {network}", None),
            (t.plain("orders.pay_page.address"), transfer.to_address, "address"),
            (t.plain("orders.pay_page.contract"), token.contract, "contract"),
        ],
        "warning": t.plain("orders.pay_page.deposit_warning"),
    }


def _refresh(shown: ShownPayment) -> int | None:
    if shown.status.again is None:
        return None
    if shown.status.state is OrderStatus.PLACING:
        return shown.status.again
    seconds = shown.seconds_remaining if shown.details else None
    return REFRESH_SECONDS if seconds is None else max(1, min(REFRESH_SECONDS, int(seconds) + 1))


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


CODE_PARAMETER = "code"
LONGEST_CODE = 40
"""How many characters the form accepts: a code with spaces around its dashes."""


def build_facts(t: Translator, sent: SentOrder, site: Site) -> ReceiptFacts:
    """Return the texts of the picture. Nobody knows the reader's time zone, so its times are in WIB, with its name."""
    return screens.build_facts(t, sent.order, sent.code, PRESUMED, ReceiptLinks(site.bot, site.public_url))


def render_receipt(t: Translator, sent: SentOrder, site: Site) -> str:
    """Return the payment page of an order that was sent: its receipt."""
    values = _receipt_values(t, sent, site)
    return TEMPLATES.get_template("receipt.html").render(
        values, heading=t.plain("orders.pay_page.sent"), text=t.plain("orders.receipt_page.sent_text"), warning=None
    )


def render_genuine(t: Translator, sent: SentOrder, site: Site) -> str:
    """Return the page that says that a receipt is genuine, with its facts for comparison."""
    values = _receipt_values(t, sent, site)
    values["chat"] = _check_in_telegram(t, sent, site)
    return TEMPLATES.get_template("receipt.html").render(
        values,
        heading=t.plain("orders.receipt_page.genuine"),
        text=t.plain("orders.receipt_page.genuine_text", amount=screens.format_amount(t, sent.order)),
        warning=t.plain("orders.receipt_page.compare", host=form_address(site.public_url).partition("/")[0]),
    )


def render_form(t: Translator, site: Site, unknown: str | None = None) -> str:
    """Return the page where a code can be entered. No receipt has the code `unknown`, which was entered before."""
    key = "ask" if unknown is None else "unknown"
    return TEMPLATES.get_template("verify.html").render(
        common_values(t, site),
        title=t.plain("orders.verify_page.title"),
        state="ask" if unknown is None else "failed",
        heading=t.plain(f"orders.verify_page.{key}"),
        text=t.plain(f"orders.verify_page.{key}_text"),
        label=t.plain("orders.receipt.code"),
        check=t.plain("orders.verify_page.check"),
        name=CODE_PARAMETER,
        longest=LONGEST_CODE,
        typed=(unknown or "")[:LONGEST_CODE],
    )


def _receipt_values(t: Translator, sent: SentOrder, site: Site) -> dict[str, object]:
    """Return what both pages of a receipt show.

    Addresses of its pictures are relative, so that they work on both, and behind any path prefix of a proxy.
    """
    order, reference = sent.order, sent.order.reference
    compact = compact_code(sent.code)
    below = f"..{VERIFY_PATH}{compact}"
    return {
        **common_values(t, site),
        "title": t.plain("orders.receipt_page.title", reference=reference),
        "amount": screens.format_amount(t, order),
        "recipient": screens.format_recipient(t, order),
        "rows": screens.format_rows(t, order, PRESUMED),
        "meaning": screens.format_meaning(t, order),
        "code_label": t.plain("orders.receipt.code"),
        "code": sent.code,
        "code_hint": t.plain("orders.receipt.hint_page", address=form_address(site.public_url)),
        "url": receipt_url(site.public_url, compact),
        "qr": f"{below}/qr.png",
        "qr_label": t.plain("orders.receipt_page.qr"),
        "share": t.plain("orders.receipt_page.share"),
        "copy_link": t.plain("orders.receipt_page.copy_link"),
        "copied": t.plain("orders.pay_page.copied"),
        "print": t.plain("orders.receipt_page.print"),
        # A receipt is kept with its recipient. After a deletion it can only be checked.
        "picture": f"{below}/receipt.png?{PARAMETER}={t.locale}" if order.has_recipient else None,
        "picture_name": f"kirim-{reference}.png",
        "save": t.plain("orders.receipt_page.save"),
    }


def _check_in_telegram(t: Translator, sent: SentOrder, site: Site) -> tuple[str, str] | None:
    """Return the label and address of the same check in the chat with the bot, or None if its name isn't known."""
    url = ReceiptLinks(site.bot).to_chat(sent.code)
    return (t.plain("orders.receipt_page.in_telegram"), url) if url else None
