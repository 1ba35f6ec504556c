"""The pages of `/help`: fees and limits, times, Lightning, and what can go wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from bot.core.money import SETTLEMENT_FEE_IDR
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.measured_payout_times import in_words
from bot.orders.payout_times import PayoutTimes
from bot.staff.help import Help
from bot.support.user_chat.buttons import HelpButton, HelpPage
from bot.support.user_chat.screens.question import contact

TOPICS: Final = (HelpPage.COST, HelpPage.TIME, HelpPage.LIGHTNING, HelpPage.TROUBLE)
"""The pages that the first one leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the pages say of this bot: its limits in rupiah (0 is no limit), its times, and who can be asked."""

    minimum: int
    a_day: int
    times: PayoutTimes | None
    contacts: Help


def rows(t: Translator) -> Keyboard:
    """Return the buttons to the topics, two in a row."""
    each = [Button(t.plain(f"button.help_{topic}"), data=HelpButton(topic).pack()) for topic in TOPICS]
    return (tuple(each[:2]), tuple(each[2:]))


def screen(t: Translator, topic: HelpPage, facts: Facts) -> Screen:
    """Return the page of a topic, with the way back."""
    back = Button(t.plain("button.back"), data=HelpButton(HelpPage.FIRST).pack())
    return Screen(TEXTS[topic](t, facts), ((back,),))


def _cost(t: Translator, facts: Facts) -> Html:
    said = [t("help.cost", fee=t.rupiah(SETTLEMENT_FEE_IDR), minimum=t.rupiah(facts.minimum))]
    if facts.a_day:
        said.append(t("help.cost_day", limit=t.rupiah(facts.a_day)))
    return Html("\n".join((*said, t("help.cost_banks"))))


def _time(t: Translator, facts: Facts) -> Html:
    if facts.times is None:
        return t("help.time")
    return Html(f"{t('help.time')}\n\n{in_words(t, facts.times)}")


def _lightning(t: Translator, _: Facts) -> Html:
    return t("help.lightning")


def _trouble(t: Translator, facts: Facts) -> Html:
    """Promise help only where somebody is set up."""
    if facts.contacts.has_staff:
        after = t("help.trouble_support")
    elif facts.contacts.contact:
        after = t("help.trouble_contact", contact=contact(facts.contacts.contact))
    else:
        after = t("help.trouble_alone")
    return Html(f"{t('help.trouble')}\n\n{after}")


TEXTS: Final[Mapping[HelpPage, Callable[[Translator, Facts], Html]]] = {
    HelpPage.COST: _cost,
    HelpPage.TIME: _time,
    HelpPage.LIGHTNING: _lightning,
    HelpPage.TROUBLE: _trouble,
}
