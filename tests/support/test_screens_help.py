"""The pages of `/help` follow the settings, and promise support only if there is an agent or a contact."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.callbacks import read_button
from bot.orders.destinations.model import PayoutTimes
from bot.orders.destinations.screens import format_payout_times
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.support.buttons import HelpButton, HelpPage
from bot.support.help import FactReader, HelpPages
from bot.support.screens import help as help_screens
from bot.users.model import UNNAMED
from tests.screens import ScreenCase, check_screen
from tests.staff.samples import some_contacts
from tests.texts import TRANSLATIONS, label, says, text

STAFF, NOBODY = frozenset({2001}), frozenset[int]()
EN = TRANSLATIONS.get("en")
MINUTE = timedelta(minutes=1)
TIMES = PayoutTimes(orders=20, median=3 * MINUTE, slow=11 * MINUTE)


def page(topic: str, locale: str = "en", **changes: Any) -> ScreenCase:
    known: dict[str, Any] = {
        "minimum": 20_000,
        "a_day": 100_000_000,
        "times": None,
        "contacts": some_contacts(STAFF, ""),
    }
    facts = help_screens.HelpFacts(**{**known, **changes})
    return ScreenCase(topic, help_screens.show_page(TRANSLATIONS.get(locale), HelpPage(topic), facts))


@pytest.mark.parametrize("locale", LOCALES)
def test_help_leads_to_each_topic_and_each_topic_back_to_help(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    help_page = ScreenCase("help", help_screens.show_first_page(t, some_contacts(NOBODY, "")))
    found = {button.data: button.label for button in help_page.buttons if HelpButton.read(button.data or "")}
    assert found == {f"help:{topic}": label(f"checkout.button.help_{topic}", locale) for topic in help_screens.TOPICS}
    for topic in help_screens.TOPICS:
        shown = page(topic, locale, times=TIMES)
        assert [(button.label, button.data) for button in shown.buttons] == [
            (label("users.button.back", locale), "help:show")
        ]
        check_screen(shown)
        assert shown.text.startswith(f"{label(f'checkout.button.help_{topic}', locale)}\n")


def test_only_pages_that_there_are_pass_for_one() -> None:
    for other in ("help:", "help:costs", "help:cost:1", "help", "xhelp:cost"):
        assert read_button(other) is None


@pytest.mark.parametrize(
    ("locale", "fee", "minimum", "limit"),
    [("en", "Rp5,000", "Rp30,000", "Rp5,000,000"), ("id", "Rp5.000", "Rp30.000", "Rp5.000.000")],
)
def test_fees_and_limits_are_those_of_the_settings(locale: str, fee: str, minimum: str, limit: str) -> None:
    cost = text("support.help.cost", locale, fee=fee, minimum=minimum)
    day, banks = text("support.help.cost_day", locale, limit=limit), text("support.help.cost_banks", locale)
    assert page("cost", locale, minimum=30_000, a_day=0).text == f"{cost}\n{banks}"
    assert page("cost", locale, minimum=30_000, a_day=5_000_000).text == f"{cost}\n{day}\n{banks}"


def test_a_time_is_named_only_where_it_was_measured() -> None:
    assert page("time").text == text("support.help.time")
    measured = text("orders.help.measured", days=30, median="3 minutes", slow="11 minutes")
    assert page("time", times=TIMES).text == f"{text('support.help.time')}\n\n{measured}"


@pytest.mark.parametrize("locale", LOCALES)
def test_one_time_is_not_said_twice(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    alike = PayoutTimes(orders=20, median=timedelta(seconds=61), slow=2 * MINUTE)
    assert says(format_payout_times(t, alike), "orders.help.measured_alike", locale, days=30, slow=t.within(2 * MINUTE))


@pytest.mark.parametrize(
    ("contacts", "after"),
    [
        (some_contacts(STAFF, "@kirim_help"), text("support.help.trouble_support")),
        (some_contacts(NOBODY, "@kirim_help"), text("support.help.trouble_contact", contact="@kirim_help")),
        (some_contacts(NOBODY, ""), text("support.help.trouble_alone")),
    ],
)
def test_help_after_a_failure_is_promised_only_where_somebody_is_there(contacts: SupportContacts, after: str) -> None:
    assert page("trouble", contacts=contacts).text == f"{text('support.help.trouble')}\n\n{after}"


@pytest.mark.parametrize(
    ("contacts", "whom"),
    [
        (some_contacts(STAFF, "@kirim_help"), text("support.help.deposit_support")),
        (some_contacts(NOBODY, "@kirim_help"), text("support.help.deposit_contact", contact="@kirim_help")),
        (some_contacts(NOBODY, ""), text("support.help.deposit_alone")),
    ],
)
def test_who_sent_a_wrong_token_reads_what_to_do_and_whom_to_tell(contacts: SupportContacts, whom: str) -> None:
    shown = page("trouble", contacts=contacts, tokens_offered=True)
    assert shown.text.endswith(f"\n\n{text('support.help.deposit')} {whom}")
    check_screen(shown)
    assert text("support.help.deposit") not in page("trouble", contacts=contacts).text


@pytest.mark.parametrize("offered", [False, True])
async def test_a_wrong_token_is_explained_where_tokens_may_be_offered_without_asking_the_service(
    *, offered: bool
) -> None:
    async def times() -> None:
        return None

    rules = SimpleNamespace(min_order_idr=20_000, limits=SimpleNamespace(idr_per_day=0))
    facts = FactReader(
        rules=cast("Any", rules),
        payout_times=cast("Any", SimpleNamespace(get=times)),
        contacts=some_contacts(STAFF, ""),
        catalogue=cast("Any", SimpleNamespace(may_offer_tokens=offered)),
    )
    contacts = some_contacts(STAFF, "")
    pages = HelpPages(database=cast("Any", None), facts=facts, contacts=contacts, provider=UNNAMED, can_ask=True)
    shown = await pages.make(cast("Any", SimpleNamespace(t=EN)), HelpPage.TROUBLE)
    assert (text("support.help.deposit") in ScreenCase("trouble", shown).text) is offered


def test_help_links_the_policy_on_failed_payouts_if_there_is_one() -> None:
    contacts = SupportContacts(StaffChat(0, NOBODY), failed_payout_policy_url="https://kirim.example/failed")
    shown = page("trouble", contacts=contacts)
    assert shown.screen.text.endswith(EN("orders.policy.failed", url="https://kirim.example/failed"))
    assert "href" not in page("trouble").screen.text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "1 minute"),
        (60, "1 minute"),
        (60.000_001, "2 minutes"),
        (7_200, "120 minutes"),
        (7_201, "3 hours"),
        (3 * 86_400, "3 days"),
    ],
)
def test_a_time_that_is_not_exceeded_is_rounded_up(seconds: float, said: str) -> None:
    assert EN.within(timedelta(seconds=seconds)) == said
