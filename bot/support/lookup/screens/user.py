"""The page of a user: id, language and status, with buttons to their orders and tickets."""

from collections.abc import Iterator, Sequence

from bot.core.locales import FALLBACK
from bot.infra.i18n import Html, Translator, choose_locale, get_zone_name
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.support.buttons import LookupButton, LookupPage, StaffTicketAction, StaffTicketButton
from bot.support.cases.screens import case as case_screens
from bot.support.cases.screens.draft import format_draft
from bot.support.lookup.model import UserOverview
from bot.support.lookup.query import format_page
from bot.support.lookup.screens import orders as staff_lookup
from bot.users.model import User


def show_user(reader: Reader, about: UserOverview) -> Screen:
    """Return the page. It shows nothing that the user wrote, except masked in a draft."""
    t = reader.t
    parts = [
        "\n".join([_heading(reader, about), *_status(reader, about.user)]),
        format_draft(reader, about.draft) if about.draft is not None else "",
        "\n".join([_counts(t, about), *_latest(reader, about)]),
        "\n".join(
            [
                t("support.lookup.tickets_of_person"),
                *(f"• {case_screens.format_ticket_line(reader, each)}" for each in about.tickets),
            ]
        )
        if about.tickets
        else "",
    ]
    return Screen("\n\n".join(part for part in parts if part), _keyboard(t, about))


def ask_which_user(reader: Reader, ids: Sequence[int]) -> Screen:
    """Ask which user is meant, if several have had the same username. The last seen comes first."""
    return Screen(reader.t("support.lookup.several_people"), tuple((user_button(reader, each),) for each in ids))


def user_button(reader: Reader, user_id: int) -> Button:
    """Return a button with a user's name and id, which opens their page."""
    name, number = reader.name_of(user_id), str(user_id)
    label = number if name == number else f"{name} · {number}"
    return Button(label, data=LookupButton(LookupPage.USER, number).pack())


def add_users(reader: Reader, listed: Screen, users: Sequence[int]) -> Screen:
    """Return a list of orders with the users above it that the same word has found."""
    found = reader.t("support.lookup.users_found", users=Html(", ".join(map(reader.format_user, users))))
    rows = tuple((user_button(reader, each),) for each in users)
    return Screen(f"{found}\n\n{listed.text}", (*rows, *listed.keyboard))


def offer_destinations(t: Translator, word: str, destinations: Keyboard) -> Screen:
    """Say that nothing is called so, and offer the orders to the destinations that the word resembles."""
    text = t("support.lookup.none_called", what=quote_input(word))
    return Screen(Html(f"{text} {t('support.lookup.or_destination')}"), destinations)


def _heading(reader: Reader, about: UserOverview) -> Html:
    t, user = reader.t, about.user
    locale = choose_locale(user.locale, user.language_code) if user else FALLBACK
    return t("support.case.person", user=reader.format_user(about.user_id), language=t.language(locale))


def _status(reader: Reader, user: User | None) -> Iterator[Html]:
    if user is None:
        return
    t = reader.t
    yield t("support.lookup.known_since", at=reader.format_time(user.created_at, round_up=False))
    if user.last_seen_at is not None:
        yield t("support.lookup.last_seen", day=reader.format_day(user.last_seen_at))
    yield t("support.lookup.their_zone", zone=get_zone_name(reader.now.astimezone(user.zone), user.zone))
    if user.blocked_at is not None:
        yield t("support.lookup.blocked", at=reader.format_time(user.blocked_at, round_up=False))
    if user.deletion_requested_at is not None:
        yield t("support.lookup.leaving", at=reader.format_time(user.deletion_requested_at, round_up=False))


def _counts(t: Translator, about: UserOverview) -> Html:
    counts = about.counts
    if not counts.orders:
        return t("support.lookup.no_orders")
    return t(
        "support.lookup.tally",
        orders=counts.orders,
        under_way=counts.in_progress,
        paid=counts.paid,
        failed=counts.failed,
    )


def _latest(reader: Reader, about: UserOverview) -> Iterator[str]:
    for order in about.orders:
        yield f"\n{staff_lookup.format_entry(reader, order)}"


def _keyboard(t: Translator, about: UserOverview) -> Keyboard:
    tickets = tuple(
        Button(each.reference, data=StaffTicketButton(each.reference, StaffTicketAction.SHOW).pack())
        for each in about.tickets
    )
    lists = (
        *(
            [_button(t, "support.lookup.all_orders", LookupPage.ORDERS_OF_USER, about.user_id)]
            if about.counts.orders
            else []
        ),
        *(
            [_button(t, "support.lookup.all_tickets", LookupPage.TICKETS_OF_USER, about.user_id)]
            if about.tickets
            else []
        ),
        Button(t.plain("orders.button.refresh"), data=LookupButton(LookupPage.USER, str(about.user_id)).pack()),
    )
    return (*staff_lookup.order_buttons(about.orders), *((tickets,) if tickets else ()), lists)


def _button(t: Translator, label: str, page: LookupPage, user_id: int) -> Button:
    return Button(t.plain(label), data=LookupButton(page, format_page(user_id)).pack())
