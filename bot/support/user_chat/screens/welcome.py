"""What the welcome answers before the first question: price, time, trouble, and who runs the bot."""

from typing import Final

from bot.core.money import SETTLEMENT_FEE_IDR, Amount
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button
from bot.orders.destinations.screens import format_payout_times
from bot.rates.quote import estimate
from bot.settlement.model import Quote
from bot.support.user_chat.buttons import HelpButton, HelpPage
from bot.support.user_chat.screens.help import HelpFacts
from bot.support.user_chat.screens.question import format_contact
from bot.users.provider import Provider, format_provider
from bot.users.screens.start import WelcomeFacts

EXAMPLE: Final = 500_000
"""The rupiah whose price the welcome names, if the limits allow them."""


def answer_newcomer(t: Translator, facts: HelpFacts, quote: Quote | None, run_by: Provider) -> WelcomeFacts:
    """Return one line for each answer. Without a `quote` no price is named."""
    contact = format_contact(facts.contacts.contact)
    lines = (
        _format_cost(t, facts, quote),
        _format_time(t, facts),
        t(f"support.welcome.trouble_{facts.contacts.reached_by}", contact=contact),
        *(t("support.welcome.run_by", provider=line) for line in format_provider(t, run_by)),
    )
    return WelcomeFacts(lines, Button(t.plain("support.button.read_more"), data=HelpButton(HelpPage.FIRST).pack()))


def _format_cost(t: Translator, facts: HelpFacts, quote: Quote | None) -> Html:
    fee, minimum = t.rupiah(SETTLEMENT_FEE_IDR), t.rupiah(facts.minimum)
    if quote is None:
        return t("support.welcome.cost_unpriced", fee=fee, minimum=minimum)
    example = max(facts.minimum, min(EXAMPLE, facts.a_day or EXAMPLE))
    worth = estimate(Amount("IDR", example), quote)
    return t("support.welcome.cost", fee=fee, minimum=minimum, amount=t.rupiah(worth.idr), sats=t.sats(worth.sats))


def _format_time(t: Translator, facts: HelpFacts) -> Html:
    if facts.times is None:
        return t("support.welcome.time_unmeasured")
    return t("support.welcome.time", measured=format_payout_times(t, facts.times))
