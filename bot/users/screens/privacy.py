"""What Kirim keeps of a person, said plainly; and the way to see it, to take it along, and to have it deleted."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from bot.checkout.draft import DraftStatus
from bot.infra.i18n import LOCALES, Html, Translator
from bot.infra.i18n.html import as_html
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.order import LOOKED_FOR, Order, Phase
from bot.orders.screens import phrases as words
from bot.recipients.model import SavedRecipient
from bot.users.privacy import UserData, Waits, failed_after_payment
from bot.users.provider import UNNAMED, Provider
from bot.users.screens import provider

SHOW, SEE, FILE, DELETE, KEEP = "pv:show", "pv:see", "pv:file", "pv:delete", "pv:keep"
EPOCH, TICK = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
LISTED = 8
"""Recipients or orders that are listed in one message; the file has them all."""


def stamp(moment: datetime) -> str:
    """A moment in a button's data: exactly, since a person may come and wish to go within the same second."""
    return str((moment - EPOCH) // TICK)


def moment_of(stamped: str) -> datetime:
    """The moment that `stamp` wrote."""
    return EPOCH + int(stamped) * TICK


def screen(t: Translator, retention_days: int, run_by: Provider = UNNAMED, *, wished: bool) -> Screen:
    """What is kept, why and how long, and what can't be deleted here."""
    parts: list[str] = [
        t(
            "privacy.text",
            how_long=_how_long(t, retention_days),
            orders=_orders_kept(t, retention_days),
            tickets=_tickets_kept(t, retention_days),
        )
    ]
    if wished:
        parts.append(t("privacy.wished"))
    parts += provider.line(t, run_by)
    see = (_button(t, "privacy.see", SEE), _button(t, "privacy.file", FILE))
    return Screen("\n\n".join(parts), (see, (_way_out(t, wished=wished),)))


def summary(t: Translator, held: UserData, zone: tzinfo) -> Screen:
    """A person's data at a glance. Numbers are masked: a chat may be looked at by others; the file has them in full."""
    person = held.person
    profile = t(
        "privacy.profile",
        since=t.date(person.created_at, zone),
        language=LOCALES[t.locale].name,
        zone=person.zone.key,
        phrase=t.plain("privacy.phrase_set" if person.phrase else "privacy.phrase_unset"),
    )
    called = [t("privacy.public_name", name=f"@{person.username}")] if person.username else []
    recipients = [f"• {_recipient(each)}" for each in held.recipients]
    orders = [f"• {words.order_line(t, each)}" for each in held.orders]
    parts = [
        "\n".join([profile, *called]),
        "\n".join([t.n("privacy.recipients", len(recipients)), *_listed(recipients)]),
        "\n".join([t.n("privacy.orders", len(orders)), *_listed(orders)]),
    ]
    begun = sum(draft.status is not DraftStatus.PLACED for draft in held.drafts)
    if begun:
        parts.append(t.n("privacy.drafts", begun))
    if held.tickets:
        parts.append(t.n("privacy.tickets", len(held.tickets)))
    if held.subscription is not None or held.alerts:
        parts.append(_rate_news(t, held))
    return Screen("\n\n".join(parts), ((_button(t, "privacy.file", FILE),), (_button(t, "button.back", SHOW),)))


def confirm(t: Translator, held: UserData, waits: Waits, asked_at: datetime) -> Screen:
    """The second, explicit question: what happens, to what, and what has to end before."""
    parts = [
        t(
            "privacy.confirm",
            recipients=t.n("privacy.recipients", len(held.recipients)),
            orders=t.n("privacy.orders", len(held.orders)),
            tickets=t.n("privacy.tickets", len(held.tickets)),
        )
    ]
    failed = failed_after_payment(held)
    if failed:
        parts.append(
            t("privacy.failed", references=Html(", ".join(_code(order.reference) for order in failed[:LISTED])))
        )
    still_open = [ticket.reference for ticket in held.tickets if ticket.is_open]
    if still_open:
        parts.append(t("privacy.tickets_open", references=Html(", ".join(map(_code, still_open[:LISTED])))))
    if waits.orders:
        parts.append(t.n("privacy.open_first", len(waits.orders)))
    yes = Button(t.plain("privacy.yes"), data=f"pv:yes:{held.person.id}:{stamp(asked_at)}", style="danger")
    return Screen("\n\n".join(parts), ((yes,), (_button(t, "privacy.no", SHOW),)))


def waiting(t: Translator, waits: Waits, now: datetime) -> Screen:
    """The wish is noted: what is still open, and that it happens by itself."""
    parts: list[str] = [t("privacy.noted")]
    if waits.orders:
        shown = [f"• {words.order_line(t, order)}\n{t(_reason(order, now))}" for order in waits.orders]
        parts.append("\n".join([t.n("privacy.still_open", len(waits.orders)), *_listed(shown)]))
    else:
        parts.append(t("privacy.still_telling"))
    parts.append(t("privacy.by_itself"))
    return Screen("\n\n".join(parts), ((_button(t, "privacy.keep", KEEP),),))


def deleted(t: Translator) -> Screen:
    """Done. No button: whoever goes on is somebody new."""
    return Screen(t("privacy.deleted"))


def done_before(t: Translator) -> Screen:
    """An old confirmation, pressed by somebody who has begun anew since."""
    return Screen(t("privacy.done_before"), ((_button(t, "privacy.open", SHOW),),))


def file_row(t: Translator) -> Keyboard:
    """To try once more."""
    return ((_button(t, "privacy.file", FILE),),)


def _how_long(t: Translator, days: int) -> str:
    return t.n("privacy.for_days", days) if days else t("privacy.until_deleted")


def _orders_kept(t: Translator, days: int) -> str:
    return t.n("privacy.orders_for_days", days) if days else t("privacy.orders_until_deleted")


def _tickets_kept(t: Translator, days: int) -> str:
    return t.n("privacy.tickets_for_days", days) if days else t("privacy.until_deleted")


def _way_out(t: Translator, *, wished: bool) -> Button:
    if wished:
        return _button(t, "privacy.keep", KEEP)
    return Button(t.plain("privacy.delete"), data=DELETE, style="danger")


def _reason(order: Order, now: datetime) -> str:
    if order.is_paid:
        return "privacy.open_paid"
    if order.phase in LOOKED_FOR:
        return "privacy.open_unknown"
    if order.phase is Phase.HELD:
        return "privacy.open_held"
    return "privacy.open_expired" if order.is_expired(now) else "privacy.open_payable"


def _recipient(recipient: SavedRecipient) -> str:
    called = recipient.label or recipient.holder
    where = words.destination(recipient.method, recipient.number)
    return as_html(f"{words.quoted(called)} · {where}" if called else where)


def _rate_news(t: Translator, held: UserData) -> Html:
    minute = held.subscription.daily_minute if held.subscription else None
    daily = t.plain("subscription.none") if minute is None else t.time_of_day(minute)
    return t("privacy.rate_news", daily=daily, alerts=len(held.alerts))


def _listed(lines: Sequence[str]) -> list[str]:
    return [*lines[:LISTED], "…"] if len(lines) > LISTED else list(lines)


def _code(reference: str) -> str:
    return f"<code>{as_html(reference)}</code>"


def _button(t: Translator, label: str, data: str) -> Button:
    return Button(t.plain(label), data=data)
