"""The page with the evidence of an order: what the settlement service has reported besides its state.

A value comes from outside. Only a valid hash goes into a link, and nothing is fetched.
"""

from collections.abc import Iterator
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
from bot.support.lookup.buttons import LookupButton, LookupPage

ON_ARBITRUM: Final = {
    "partner_burn_tx_hash": "support.evidence.probably_on",
    "swap_tx_hash": "support.evidence.probably_on",
    "ln_swap_tx_hash": "support.evidence.on",
}
"""The transactions, and how their chain is named. The service receives USDT on Arbitrum (settlement API, 3). It doesn't
name the chain of what it does with them after that."""

HIDDEN: Final = "•••"
"""Shown for a person's name that has no letter to show."""


def evidence_button(t: Translator, order: Order | None) -> tuple[Button, ...]:
    """Return the button to the evidence of an order, or no button if there is none."""
    if order is None or not order.evidence:
        return ()
    data = LookupButton(LookupPage.EVIDENCE, order.reference).pack()
    return (Button(t.plain("support.evidence.button"), data=data),)


def show_evidence(reader: Reader, order: Order) -> Screen:
    """Return the page: all values that fit, the payout reference first, with buttons to copy and to look them up."""
    t = reader.t
    text = t("support.evidence.heading", line=format_order_line(t, order))
    entries = [_entry(reader, order, name) for name in NAMES if last_value(order.evidence, name) is not None]
    left = TEXT_UNITS - count_visible_units(text) - count_visible_units(t("support.evidence.no_room"))
    for entry in entries:
        left -= count_visible_units(entry) + 2
        if left < 0:
            text = Html(f"{text}\n\n{t('support.evidence.no_room')}")
            break
        text = Html(f"{text}\n\n{entry}")
    return Screen(text, (*_value_rows(t, order), *_page_row(t, order)))


def _entry(reader: Reader, order: Order, name: str) -> str:
    """Return the lines of one name: its values, the last one first, and what has to be known about them."""
    found = [each for each in order.evidence if each.name == name]
    return "\n".join(
        [
            f"<b>{_label(reader.t, name)}</b>",
            *(_line(reader, each) for each in reversed(found)),
            *_remarks(reader.t, order, name),
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


def _remarks(t: Translator, order: Order, name: str) -> Iterator[Html]:
    if name == "partner_amount_idr":
        yield t("support.evidence.agreed", amount=t.rupiah(order.idr or order.expected_idr))
    if name in ON_ARBITRUM:
        yield t(ON_ARBITRUM[name], chain=ARBITRUM.name)


def _value_rows(t: Translator, order: Order) -> Keyboard:
    """Return the buttons of the last value of each name: one to copy it, and one to a transaction's page."""
    rows: list[tuple[Button, ...]] = []
    for name in NAMES:
        value = last_value(order.evidence, name)
        if not isinstance(value, str) or name == "merchant_name" or len(value) > COPY_CHARACTERS:
            continue
        copy = Button(t.plain("support.evidence.copy", what=_label(t, name)), copy=value)
        url = ARBITRUM.transaction_url(value) if name in ON_ARBITRUM else None
        rows.append((copy, *([Button(t.plain("support.evidence.explorer"), url=url)] if url else [])))
    return tuple(rows)


def _page_row(t: Translator, order: Order) -> Keyboard:
    there = Button(order.reference, data=LookupButton(LookupPage.ORDER, order.reference).pack())
    refresh = Button(t.plain("orders.button.refresh"), data=LookupButton(LookupPage.EVIDENCE, order.reference).pack())
    return ((there, refresh),)
