"""The page with the evidence of an order: what the settlement service has reported besides its state.

A value comes from outside. Only a valid hash goes into a link, and nothing is fetched.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.outbound.truncate import TEXT_UNITS, count_visible_units
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import COPY_CHARACTERS, Button, Keyboard, Screen
from bot.orders.evidence import NAMES, PAYOUT_REFERENCE, Evidence, last_value
from bot.orders.order import Order
from bot.orders.screens.formatting import format_order_line
from bot.payments.tokens import ARBITRUM
from bot.recipients.holders import mask_name
from bot.support.buttons import LookupButton, LookupPage
from bot.support.lookup.screens.orders import format_service_order_line
from bot.support.service_orders import ServiceOrder

ON_ARBITRUM: Final = {
    "partner_burn_tx_hash": "support.evidence.probably_on",
    "swap_tx_hash": "support.evidence.probably_on",
    "ln_swap_tx_hash": "support.evidence.on",
}
"""The transactions, and how their chain is named. The service receives USDT on Arbitrum (settlement API, 3). It doesn't
name the chain of what it does with them after that."""

HIDDEN: Final = "•••"
"""Shown for a person's name that has no letter to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """What a page of evidence needs: the order's line, its evidence, the agreed rupiah, and the last row of buttons."""

    line: Html
    evidence: Sequence[Evidence]
    agreed_idr: int | None
    last_row: tuple[Button, ...]


def show_evidence(reader: Reader, order: Order) -> Screen:
    """Return the page of an order of ours."""
    t = reader.t
    there = Button(order.reference, data=LookupButton(LookupPage.ORDER, order.reference).pack())
    return _show(
        reader,
        _Page(
            line=format_order_line(t, order),
            evidence=order.evidence,
            agreed_idr=order.idr or order.expected_idr,
            last_row=(there, _refresh_button(t, LookupPage.EVIDENCE, order.reference)),
        ),
    )


def show_service_evidence(reader: Reader, order: ServiceOrder) -> Screen:
    """Return the page of an order that only the service knows."""
    t = reader.t
    back = LookupButton(LookupPage.SERVICE_ORDER, order.service_id).pack()
    return _show(
        reader,
        _Page(
            line=format_service_order_line(t, order),
            evidence=order.evidence,
            agreed_idr=order.report.idr if order.report else None,
            last_row=(
                Button(t.plain("support.service_order.back"), data=back),
                _refresh_button(t, LookupPage.SERVICE_EVIDENCE, order.service_id),
            ),
        ),
    )


def _show(reader: Reader, page: _Page) -> Screen:
    """Return all values that fit, the payout reference first, with buttons to copy and to look them up."""
    t = reader.t
    text = t("support.evidence.heading", line=page.line)
    entries = [_entry(reader, page, name) for name in NAMES if last_value(page.evidence, name) is not None]
    left = TEXT_UNITS - count_visible_units(text) - count_visible_units(t("support.evidence.no_room"))
    for entry in entries:
        left -= count_visible_units(entry) + 2
        if left < 0:
            text = Html(f"{text}\n\n{t('support.evidence.no_room')}")
            break
        text = Html(f"{text}\n\n{entry}")
    return Screen(text, (*_value_rows(t, page.evidence), page.last_row))


def _entry(reader: Reader, page: _Page, name: str) -> str:
    """Return the lines of one name: its values, the last one first, and what has to be known about them."""
    found = [each for each in page.evidence if each.name == name]
    return "\n".join(
        [
            f"<b>{_label(reader.t, name)}</b>",
            *(_line(reader, each) for each in reversed(found)),
            *_remarks(reader.t, page, name),
        ]
    )


def _label(t: Translator, name: str) -> Html:
    return t("orders.payout_reference.name") if name == PAYOUT_REFERENCE else t(f"support.evidence.name.{name}")


def _line(reader: Reader, evidence: Evidence) -> Html:
    t, value = reader.t, evidence.value
    seen = reader.format_time(evidence.seen_at, round_up=False)
    if isinstance(value, datetime):
        return t("support.evidence.reported", value=reader.format_time(value, round_up=False), seen=seen)
    if isinstance(value, int):
        return t("support.evidence.reported", value=t.rupiah(value), seen=seen)
    if evidence.name == "merchant_name":
        return t("support.evidence.reported", value=mask_name(value) or HIDDEN, seen=seen)
    return t("support.evidence.reported_code", value=value, seen=seen)


def _remarks(t: Translator, page: _Page, name: str) -> Iterator[Html]:
    if name == "partner_amount_idr" and page.agreed_idr is not None:
        yield t("support.evidence.agreed", amount=t.rupiah(page.agreed_idr))
    if name in ON_ARBITRUM:
        yield t(ON_ARBITRUM[name], chain=ARBITRUM.name)


def _value_rows(t: Translator, evidence: Sequence[Evidence]) -> Keyboard:
    """Return the buttons of the last value of each name: one to copy it, and one to a transaction's page."""
    rows: list[tuple[Button, ...]] = []
    for name in NAMES:
        value = last_value(evidence, name)
        if not isinstance(value, str) or name == "merchant_name" or len(value) > COPY_CHARACTERS:
            continue
        copy = Button(t.plain("support.evidence.copy", what=_label(t, name)), copy=value)
        url = ARBITRUM.transaction_url(value) if name in ON_ARBITRUM else None
        rows.append((copy, *([Button(t.plain("support.evidence.explorer"), url=url)] if url else [])))
    return tuple(rows)


def _refresh_button(t: Translator, page: LookupPage, name: str) -> Button:
    return Button(t.plain("orders.button.refresh"), data=LookupButton(page, name).pack())
