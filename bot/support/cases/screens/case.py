"""A case as support sees it: the facts, what is unusual, the user's other orders and tickets, and the timeline.

The buttons of all pages about cases are here, too. The text always fits one message, because the timeline is shortened.
"""

from collections.abc import Iterator

from bot.core.locales import FALLBACK
from bot.infra.i18n import Html, Translator, choose_locale, get_zone_name
from bot.infra.outbox.workers import KEEP_SENT
from bot.infra.telegram.outbound.truncate import TEXT_UNITS, count_visible_units
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button
from bot.orders.order import Order
from bot.orders.screens.formatting import format_channel, format_order_line, format_payer, format_payout_reference
from bot.orders.screens.open_orders import staff_status_key, status_emoji
from bot.recipients.formatting import format_destination
from bot.support.buttons import LookupButton, LookupPage, RevealAction, RevealButton
from bot.support.cases.reader import MAX_OTHERS, Case
from bot.support.cases.screens import timeline as staff_timeline
from bot.support.cases.screens.draft import format_draft
from bot.support.ticket import Ticket

SHOWN = MAX_OTHERS - 1
"""How many other orders, and how many other tickets, are shown."""


def format_case(reader: Reader, case: Case, *, before: str = "") -> Html:
    """Return `before` and the whole case, in at most the length of a message."""
    known = (
        before,
        format_facts(reader, case),
        format_anomalies(reader.t, case),
        format_draft(reader, case.draft) if case.draft is not None else "",
        format_others(reader, case),
    )
    parts = [part for part in known if part]
    units = TEXT_UNITS - count_visible_units("\n\n".join(parts))
    history = format_timeline(reader, case, units)
    return Html("\n\n".join([*parts, history] if history else parts))


def format_facts(reader: Reader, case: Case) -> str:
    """Return the order's amount and masked destination, and its user's id and language."""
    order = case.order
    return "\n".join([*(_order_lines(reader, order) if order else ()), _user_line(reader, case)])


def format_anomalies(t: Translator, case: Case) -> str:
    """Return what is unusual in the case; empty if nothing is."""
    parts = [f"• {t(f'support.case.unusual.{anomaly}')}" for anomaly in case.anomalies]
    return "\n".join([t("support.case.unusual"), *parts]) if parts else ""


def format_others(reader: Reader, case: Case, but: str = "") -> str:
    """Return the user's other open orders, and their tickets except the ticket `but`."""
    t = reader.t
    tickets = [ticket for ticket in case.tickets if ticket.reference != but]
    parts = [format_order_state(reader, order) for order in case.others[:SHOWN]]
    parts += [format_ticket_line(reader, ticket) for ticket in tickets[:SHOWN]]
    has_more = len(case.others) > SHOWN or len(tickets) > SHOWN
    lines = [*(f"• {line}" for line in parts), *([t("support.case.others_more")] if has_more else [])]
    return "\n".join([t("support.case.others"), *lines]) if parts else ""


def format_timeline(reader: Reader, case: Case, units: int = TEXT_UNITS) -> str:
    """Return the timeline in at most so many visible `units`. It is collapsed until it is tapped."""
    if case.order is None:
        return ""
    t, zone, now = reader.t, reader.zone, reader.now
    heading = t("support.case.timeline", zone=get_zone_name(now.astimezone(zone), zone))
    if not case.notifications and case.order.created_at < now - KEEP_SENT:
        heading = Html(f"{heading}\n{t('support.case.news_forgotten', days=KEEP_SENT.days)}")
    lines = staff_timeline.format_lines(reader, case, units - count_visible_units(heading) - 3)
    return f"{heading}\n<blockquote expandable>{lines}</blockquote>" if lines else ""


def format_ticket_line(reader: Reader, ticket: Ticket) -> Html:
    """Return a ticket as a list shows it: reference, status, and the agent who holds it."""
    t = reader.t
    status = "closed" if not ticket.is_open else "unclaimed" if ticket.claimed_by is None else "claimed"
    status_text = t(f"support.case.ticket.{status}", by=reader.format_staff(ticket.claimed_by or 0))
    return t("support.case.ticket", reference=ticket.reference, status=status_text)


def format_language(t: Translator, case: Case) -> str:
    """Return the name of the user's language, in the language of `t`."""
    user = case.user
    locale = choose_locale(user.locale, user.language_code) if user else FALLBACK
    return t.language(locale)


def user_row(t: Translator, user_id: int) -> tuple[Button, ...]:
    """Return the button to a user's page, or no button for a deleted user."""
    if not user_id:
        return ()
    return (Button(t.plain("support.lookup.person"), data=LookupButton(LookupPage.USER, str(user_id)).pack()),)


def reveal_button(t: Translator, reference: str) -> Button:
    """Return the button that starts a reveal."""
    return Button(t.plain("support.reveal.button"), data=RevealButton(reference, RevealAction.ASK).pack())


def evidence_button(t: Translator, order: Order | None) -> tuple[Button, ...]:
    """Return the button to the evidence of an order, or no button if there is none."""
    if order is None or not order.evidence:
        return ()
    data = LookupButton(LookupPage.EVIDENCE, order.reference).pack()
    return (Button(t.plain("support.evidence.button"), data=data),)


def _order_lines(reader: Reader, order: Order) -> Iterator[str]:
    t, now = reader.t, reader.now
    yield t(
        "support.case.heading",
        mark=status_emoji(order, now),
        state=t(staff_status_key(order, now)),
        amount=t.rupiah(order.idr or order.expected_idr),
        destination=format_destination(order.method, order.number),
    )
    yield t("support.case.reference", reference=order.reference)
    if order.hides_recipient:
        yield t("support.case.from_link")
    if order.service_id:
        yield t("support.case.service_id", id=quote_input(order.service_id))
    yield from format_payout_reference(t, order)
    kind = "paid" if order.is_paid else "price" if order.has_shown_price else "reviewed"
    sats = order.sats if order.sats is not None and kind != "reviewed" else order.expected_sats
    yield t(f"support.case.{kind}", sats=t.sats(sats), channel=format_channel(t, order.channel))


def _user_line(reader: Reader, case: Case) -> Html:
    t = reader.t
    if not case.user_id:
        return t("orders.payer.deleted") if case.order is None else format_payer(t, case.order)
    return t("support.case.person", user=reader.format_user(case.user_id), language=format_language(t, case))


def format_order_state(reader: Reader, order: Order) -> Html:
    """Return an order as a list shows it: its line, and its state now."""
    t = reader.t
    return t("support.case.other", line=format_order_line(t, order), state=t(staff_status_key(order, reader.now)))
