"""The HTML of the pages: the payment as it stands, and the short word where there is nothing to show.

All of it works without JavaScript. The script only counts down, copies, and brings the state up to date.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.infra.http.elements import element as el
from bot.infra.http.elements import together
from bot.infra.i18n import LOCALES, Html, Translator, other_locales
from bot.orders.measured_payout_times import in_words
from bot.orders.order import Order
from bot.orders.pay_page.files import Files
from bot.orders.pay_page.language import PARAMETER
from bot.orders.pay_page.states import State, StepShown, Telling, telling
from bot.orders.payable import Payable, Transfer
from bot.orders.payout_times import PayoutTimes
from bot.users.provider import Provider

REFRESH_SECONDS = 20
"""How often a page without JavaScript looks again, or as soon as its invoice expires."""


@dataclass(frozen=True, slots=True)
class Site:
    """What all pages have in common: the files they load, and who runs the bot."""

    files: Files
    provider: Provider


@dataclass(frozen=True, slots=True)
class Shown:
    """A payment to be shown: `payable` is there only while it may be paid."""

    order: Order
    told: Telling
    payable: Payable | None
    now: datetime
    times: PayoutTimes | None = None

    @property
    def seconds_left(self) -> float | None:
        """Until the expiry; None where there is none."""
        return (self.order.expires_at - self.now).total_seconds() if self.order.expires_at else None


def payment(t: Translator, shown: Shown, site: Site) -> str:
    """The page of one payment."""
    token = shown.order.page_token or ""
    main = el(
        "main",
        _state(t, shown.told),
        _amount(t, shown),
        _pay(t, shown, token) if shown.payable else None,
        _steps(shown.told.steps),
        data_state=shown.told.state,
        data_look=f"{token}/state?{PARAMETER}={t.locale}",
        data_again=shown.told.again,
        data_now=_milliseconds(shown.now),
        data_expires=_milliseconds(shown.order.expires_at) if shown.payable else None,
        **_expired_words(t) if shown.payable else {},
    )
    return _document(t, site, main, refresh=_refresh(shown), script=shown.told.again is not None)


def notice(t: Translator, site: Site, heading: str, text: str) -> str:
    """A page that only says something."""
    main = el("main", el("header", el("h1", heading), el("p", text), class_="state"), data_state="notice")
    return _document(t, site, main, refresh=None, script=False)


def _state(t: Translator, told: Telling) -> Html:
    return el(
        "header",
        el("h1", told.heading, id="heading"),
        el("p", told.text, id="text"),
        el("p", t.plain("page.offline"), id="offline", class_="warning", hidden=True),
        class_="state",
        role="status",
    )


def _amount(t: Translator, shown: Shown) -> Html:
    order = shown.order
    pays = t.sats(order.sats or order.expected_sats)
    transfer = shown.payable.transfer if shown.payable else None
    return el(
        "section",
        el("p", f"{transfer.amount} {transfer.token.symbol}" if transfer else pays, class_="sum"),
        el("p", pays, class_="also") if transfer else None,
        el("p", t.plain("page.to_send", amount=t.rupiah(order.idr or order.expected_idr)), class_="also"),
        class_="amount",
    )


def _pay(t: Translator, shown: Shown, token: str) -> Html:
    payable = shown.payable
    if payable is None:
        raise ValueError("there is nothing to pay")
    return el(
        "section",
        _countdown(t, shown),
        el("a", t.plain("page.open_wallet"), href=payable.link, class_="action primary"),
        _transfer(t, payable.transfer) if payable.transfer else _invoice(t, payable.text),
        el("img", src=f"{token}/qr.png", alt=t.plain("page.qr"), class_="qr", width=700, height=700),
        el("p", t.plain("page.safe"), class_="hint"),
        el("p", t.plain("page.for_payer"), class_="hint"),
        el("p", in_words(t, shown.times), class_="hint") if shown.times else None,
        id="pay",
    )


def _countdown(t: Translator, shown: Shown) -> Html | None:
    expires = shown.order.expires_at
    if expires is None:
        return None
    soon = t.plain("page.expires", soon=t.until(expires, shown.now))
    span = max((expires - shown.order.created_at).total_seconds(), 1)
    return el(
        "div",
        el("p", soon, id="left", data_words=t.plain("page.countdown", time="{time}")),
        el("progress", id="bar", max=int(span), value=max(int(shown.seconds_left or 0), 0), aria_labelledby="left"),
        class_="countdown",
    )


def _invoice(t: Translator, invoice: str) -> Html:
    return together(
        _copy_button(t, t.plain("page.copy_invoice"), "invoice"),
        el("code", invoice, id="invoice", class_="text", tabindex=0, aria_label=t.plain("page.invoice")),
    )


def _transfer(t: Translator, transfer: Transfer) -> Html:
    token = transfer.token
    network = t.plain("page.on_network", network=token.chain.name, chain_id=str(token.chain.id))
    return together(
        el(
            "div",
            _copy_button(t, t.plain("pay.copy_address"), "address"),
            _copy_button(t, t.plain("pay.copy_amount"), "amount"),
            class_="pair",
        ),
        el(
            "dl",
            *_part(t.plain("page.amount"), transfer.amount, "amount"),
            *_part(t.plain("page.token"), f"{token.symbol} · {network}"),
            *_part(t.plain("page.address"), transfer.to_address, "address"),
            *_part(t.plain("page.contract"), token.contract, "contract"),
        ),
        el("p", t.plain("page.deposit_warning"), class_="warning"),
    )


def _part(name: str, value: str, code: str | None = None) -> tuple[Html, Html]:
    shown = el("code", value, id=code, class_="part") if code else value
    return el("dt", name), el("dd", shown)


def _copy_button(t: Translator, label: str, source: str) -> Html:
    """Hidden until the script shows that it runs."""
    return el(
        "button",
        label,
        type="button",
        class_="action",
        data_copies=source,
        data_done=t.plain("page.copied"),
        hidden=True,
    )


def _steps(steps: tuple[StepShown, ...]) -> Html:
    """Each step's mark is the style sheet's; `aria-current` says the same to who can't see it."""
    lines = [el("li", s.name, class_=s.stands, aria_current="step" if s.stands == "now" else None) for s in steps]
    return el("ol", *lines, id="steps")


def _expired_words(t: Translator) -> dict[str, str]:
    """What the script says at the end of the countdown, should the server be out of reach just then."""
    told = telling(t, State.EXPIRED)
    return {"data_expired": told.heading, "data_expired_text": told.text}


def _document(t: Translator, site: Site, main: Html, *, refresh: int | None, script: bool) -> str:
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1, viewport-fit=cover"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="robots", content="noindex, nofollow"),
        el("title", t.plain("page.title")),
        el("link", rel="icon", type="image/svg+xml", href=site.files.link("icon.svg")),
        el("link", rel="stylesheet", href=site.files.link("page.css")),
        el("noscript", el("meta", http_equiv="refresh", content=refresh)) if refresh else None,
        el("script", type="module", src=site.files.link("page.js")) if script else None,
    )
    body = el("body", _top(t, site), main, _foot(t, site.provider))
    return f"<!doctype html>\n{el('html', head, body, lang=t.locale)}\n"


def _top(t: Translator, site: Site) -> Html:
    return el(
        "header",
        el("span", el("img", src=site.files.link("icon.svg"), alt="", width=28, height=28), "Kirim", class_="brand"),
        *(
            el("a", LOCALES[other].name, href=f"?{PARAMETER}={other}", lang=other, hreflang=other)
            for other in other_locales(t.locale)
        ),
        class_="top",
    )


def _foot(t: Translator, provider: Provider) -> Html | None:
    """Who runs the bot; nothing at all where that isn't set. The links tell no other site a page's address."""
    name = (el("span", t.plain("provider.name", name=provider.name)),) if provider.name else ()
    links = (el("a", t.plain(key), href=url, rel="noopener noreferrer") for key, url in provider.links)
    parts = (*name, *links)
    return el("footer", *parts) if parts else None


def _refresh(shown: Shown) -> int | None:
    if shown.told.again is None:
        return None
    left = shown.seconds_left if shown.payable else None
    return REFRESH_SECONDS if left is None else max(1, min(REFRESH_SECONDS, int(left) + 1))


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
