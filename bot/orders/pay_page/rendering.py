"""Render the pages as HTML: a payment with its status, or a short notice.

The templates contain the markup, and this module provides the texts. The pages work without JavaScript. The script
only counts down, copies, and updates the status.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request

from bot.core.locales import FALLBACK, find_locale
from bot.infra.i18n import LOCALES, Translator, other_locales
from bot.orders.destinations.model import DestinationHealth, PayoutTimes
from bot.orders.destinations.screens import format_destination_health, format_payout_times
from bot.orders.order import Order, OrderStatus
from bot.orders.pay_page.files import Files
from bot.orders.pay_page.status_text import StatusText, describe_status
from bot.orders.payment_details import PaymentDetails, Transfer
from bot.users.provider import Provider

PARAMETER = "l"
MAX_READ = 10


def language_of(request: Request) -> str:
    """Return the locale of an answer."""
    preferred = [request.query_params.get(PARAMETER), *_preferred(request.headers.get("accept-language", ""))]
    return next(filter(None, map(find_locale, preferred)), FALLBACK)


def _preferred(header: str) -> list[str]:
    """Return the languages of an Accept-Language header, the most preferred first."""
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


TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)

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

    `times` are of all destinations, and shown if nothing is known of the order's own.
    """

    order: Order
    status: StatusText
    details: PaymentDetails | None
    now: datetime
    times: PayoutTimes | None = None
    destination: DestinationHealth | None = None

    @property
    def seconds_remaining(self) -> float | None:
        """The seconds until the expiry, or None if there is none."""
        return (self.order.expires_at - self.now).total_seconds() if self.order.expires_at else None


def render_payment(t: Translator, shown: ShownPayment, site: Site) -> str:
    """Return the page of one payment."""
    status, token = shown.status, shown.order.page_token or ""
    return TEMPLATES.get_template("payment.html").render(
        common_values(t, site),
        status=status,
        data={
            "data-state": status.state,
            "data-look": f"{token}/state?{PARAMETER}={t.locale}",
            "data-again": status.again,
            "data-now": _milliseconds(shown.now),
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
    expired = describe_status(t, OrderStatus.EXPIRED)
    return {
        "data-expires": _milliseconds(shown.order.expires_at),
        "data-expired": expired.heading,
        "data-expired-text": expired.text,
    }


def _amounts(t: Translator, shown: ShownPayment) -> list[str]:
    """Return the amounts: what to pay in each of its units, the first one to be paid, and what the recipient gets."""
    order = shown.order
    amounts = [
        t.sats(order.sats or order.expected_sats),
        t.plain("orders.pay_page.to_send", amount=t.rupiah(order.idr or order.expected_idr)),
    ]
    transfer = shown.details.transfer if shown.details else None
    return [f"{transfer.amount} {transfer.token.symbol}", *amounts] if transfer else amounts


def _pay(t: Translator, shown: ShownPayment, details: PaymentDetails, token: str) -> dict[str, object]:
    hints = [t.plain("orders.pay_page.safe"), t.plain("orders.pay_page.for_payer")]
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
        "left": max(int(shown.seconds_remaining or 0), 0),
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
    left = shown.seconds_remaining if shown.details else None
    return REFRESH_SECONDS if left is None else max(1, min(REFRESH_SECONDS, int(left) + 1))


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
