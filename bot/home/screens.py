"""The screens about several features: the start, the first page of help for members of staff, and the settings."""

from collections.abc import Sequence
from typing import Final

from bot.core.money import SETTLEMENT_FEE_IDR, Amount
from bot.infra.i18n import LOCALES, Html, Translator, other_locales
from bot.infra.telegram.ui.callbacks import Callback
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.buttons import PreferencesAction, PreferencesButton
from bot.orders.destinations.screens import format_payout_times
from bot.orders.screens import preferences
from bot.payment_requests.screens import make_ask_button
from bot.payments.tokens import LIGHTNING_WALLETS
from bot.rates.buttons import SubscriptionAction, SubscriptionButton
from bot.rates.model import estimate
from bot.recipients.buttons import RecipientsButton
from bot.settlement.model import Quote
from bot.support.buttons import HelpButton, HelpPage
from bot.support.screens.help import HelpFacts
from bot.support.screens.user import format_contact
from bot.users.buttons import (
    LanguageButton,
    PhraseAction,
    PhraseButton,
    PrivacyAction,
    PrivacyButton,
    SettingsAction,
    SettingsButton,
    send_row,
)
from bot.users.model import Provider, User, format_provider
from bot.users.screens import back_row, format_zone

EXAMPLE: Final = 500_000
"""The rupiah whose price the welcome names, if the limits allow them."""

SETTINGS: Final[tuple[tuple[tuple[str, Callback], tuple[str, Callback]], ...]] = (
    (
        ("users.settings.zone", SettingsButton(SettingsAction.ZONES)),
        ("orders.settings.notices", PreferencesButton(PreferencesAction.SHOW)),
    ),
    (
        ("users.settings.phrase", PhraseButton(PhraseAction.SHOW)),
        ("recipients.settings.recipients", RecipientsButton()),
    ),
    (
        ("rates.settings.rate_news", SubscriptionButton(SubscriptionAction.SHOW)),
        ("users.settings.privacy", PrivacyButton(PrivacyAction.SHOW)),
    ),
)
"""The sections of the settings, in rows: the key of the button's text, and the button."""


def show_welcome(t: Translator, facts: HelpFacts, quote: Quote | None, run_by: Provider, *, can_ask: bool) -> Screen:
    """Return the start of users who aren't members of staff, with a line for each question of a newcomer.

    Without a `quote` no price is named. `can_ask` is whether users can ask others for money.
    """
    contact = format_contact(facts.contacts.contact)
    lines = (
        _format_cost(t, facts, quote),
        _format_time(t, facts),
        t(f"home.welcome.trouble_{facts.contacts.reached_by}", contact=contact),
        *(t("home.welcome.run_by", provider=line) for line in format_provider(t, run_by)),
    )
    text = "\n\n".join((t("home.start.text", wallets=", ".join(LIGHTNING_WALLETS)), "\n".join(lines)))
    ask = ((make_ask_button(t),),) if can_ask else ()
    more = Button(t.plain("home.button.read_more"), data=HelpButton(HelpPage.FIRST).pack())
    return Screen(text, (send_row(t), *ask, (more,), _settings_row(t)))


def _format_cost(t: Translator, facts: HelpFacts, quote: Quote | None) -> Html:
    fee, minimum = t.rupiah(SETTLEMENT_FEE_IDR), t.rupiah(facts.minimum)
    if quote is None:
        return t("home.welcome.cost_unpriced", fee=fee, minimum=minimum)
    example = max(facts.minimum, min(EXAMPLE, facts.a_day or EXAMPLE))
    estimated = estimate(Amount("IDR", example), quote)
    return t("home.welcome.cost", fee=fee, minimum=minimum, amount=t.rupiah(estimated.idr), sats=t.sats(estimated.sats))


def _format_time(t: Translator, facts: HelpFacts) -> Html:
    if facts.times is None:
        return t("home.welcome.time_unmeasured")
    return t("home.welcome.time", measured=format_payout_times(t, facts.times))


def show_staff_start(t: Translator, parts: Sequence[Screen]) -> Screen:
    """Return the start of members of staff: what each of their roles shows. They can send rupiah, too."""
    rows = [row for part in parts for row in part.keyboard]
    text = "\n\n".join([*(part.text for part in parts), t("home.start.staff")])
    return Screen(text, (*rows, send_row(t, style=None), _settings_row(t)))


def _settings_row(t: Translator) -> tuple[Button, ...]:
    """Return the buttons to the other languages and to the settings."""
    others = [
        Button(t.plain("users.language.other", name=LOCALES[code].name), data=LanguageButton(code).pack())
        for code in other_locales(t.locale)
    ]
    return (*others, *back_row(t))


def show_staff_help(t: Translator, parts: Sequence[Screen]) -> Screen:
    """Return the help of members of staff: what each of their roles can do, with a button to the page of senders."""
    rows = [row for part in parts for row in part.keyboard]
    senders = Button(t.plain("home.button.senders_help"), data=HelpButton(HelpPage.SENDERS).pack())
    return Screen("\n\n".join(part.text for part in parts), (*rows, (senders,)))


def show_settings(reader: Reader, user: User) -> Screen:
    """Return the settings with all sections."""
    t = reader.t
    text = t("home.settings.text", time=format_zone(reader, reader.zone), notices=preferences.summarize(t, user))
    others = tuple(
        Button(
            t.plain("users.language.other", name=LOCALES[code].name),
            data=SettingsButton(SettingsAction.LANG, code).pack(),
        )
        for code in other_locales(t.locale)
    )
    sections = (tuple(Button(t.plain(label), data=button.pack()) for label, button in row) for row in SETTINGS)
    return Screen(text, (others, *sections))
