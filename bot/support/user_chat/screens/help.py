"""What `/help` explains on pages of their own: fees and limits, times, Lightning, and what can go wrong."""

from dataclasses import dataclass
from typing import Final

from bot.core.money import SETTLEMENT_FEE_IDR
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.measured_payout_times import in_words
from bot.orders.payout_times import PayoutTimes
from bot.staff.help import Help
from bot.support.user_chat.screens.question import contact

TOPICS: Final = ("cost", "time", "lightning", "trouble")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the pages say of this bot: its limits in rupiah (0 is no limit), its times, and who helps."""

    minimum: int
    a_day: int
    times: PayoutTimes | None
    help_desk: Help


def rows(t: Translator) -> Keyboard:
    """Return the buttons to the topics, two in a row."""
    each = [Button(t.plain(f"button.help_{topic}"), data=data.for_help(topic)) for topic in TOPICS]
    return (tuple(each[:2]), tuple(each[2:]))


def screen(t: Translator, topic: str, facts: Facts) -> Screen:
    """Return the page of a topic, with the way back."""
    return Screen(TEXTS[topic](t, facts), ((Button(t.plain("button.back"), data=data.for_help("show")),),))


def lightning(t: Translator) -> Screen:
    """Return what Lightning is, for who is in the middle of an order: it leads nowhere else."""
    return Screen(t("help.lightning"))


def lightning_row(t: Translator) -> tuple[Button, ...]:
    """Return the button to `lightning`."""
    return (Button(t.plain("button.help_lightning"), data=data.for_help("aside")),)


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
    """Nobody is promised where nobody is set up."""
    if facts.help_desk.has_staff:
        after = t("help.trouble_support")
    elif facts.help_desk.contact:
        after = t("help.trouble_contact", contact=contact(facts.help_desk.contact))
    else:
        after = t("help.trouble_alone")
    return Html(f"{t('help.trouble')}\n\n{after}")


TEXTS: Final = {"cost": _cost, "time": _time, "lightning": _lightning, "trouble": _trouble}
