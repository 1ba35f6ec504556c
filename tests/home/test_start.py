"""The welcome answers what newcomers ask before their first question, in a few lines, with the service's figures."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.home.handlers import Start
from bot.home.screens import show_welcome
from bot.infra.i18n import LOCALES
from bot.orders.destinations.model import PayoutTimes
from bot.payments.tokens import LIGHTNING_WALLETS
from bot.settlement import catalogue as catalogues
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import NeverReached
from bot.settlement.model import Quote
from bot.staff.staff_chat import SupportContacts
from bot.support.help import FactReader
from bot.support.screens.help import HelpFacts
from bot.users.model import UNNAMED, Provider
from tests.screens import NOW, ScreenCase, check_screen
from tests.settlement.builders import QUOTE
from tests.settlement.fake_settlement import FakeSettlement, MovedClock
from tests.staff.samples import some_contacts
from tests.texts import TRANSLATIONS, label, text

STAFF, NOBODY = frozenset({2001}), frozenset[int]()
TIMES = PayoutTimes(orders=20, median=timedelta(minutes=3), slow=timedelta(minutes=11))
KIRIM = Provider(name="PT Kirim", terms_url="https://kirim.example/terms")


def welcome(locale: str = "en", quote: Quote | None = QUOTE, run_by: Provider = KIRIM, **changes: Any) -> ScreenCase:
    known = {"minimum": 20_000, "a_day": 100_000_000, "times": TIMES, "contacts": some_contacts(STAFF, "")}
    t = TRANSLATIONS.get(locale)
    return ScreenCase("", show_welcome(t, HelpFacts(**{**known, **changes}), quote, run_by, can_ask=False))


def lines(shown: ScreenCase) -> list[str]:
    return shown.text.split("\n\n")[1].split("\n")


@pytest.mark.parametrize(
    ("locale", "minimum", "amount", "sats", "fee"),
    [
        ("en", "Rp20,000", "Rp500,000", "29,410 sats", "Rp5,000"),
        ("id", "Rp20.000", "Rp500.000", "29.410 sats", "Rp5.000"),
    ],
)
def test_a_newcomer_reads_price_time_trouble_and_who_runs_the_bot_in_a_few_lines(
    locale: str, minimum: str, amount: str, sats: str, fee: str
) -> None:
    shown, t = welcome(locale), TRANSLATIONS.get(locale)
    times = {"days": 30, "median": t.within(TIMES.median), "slow": t.within(TIMES.slow)}
    run_by = f"{text('users.provider.name', locale, name='PT Kirim')} · {label('users.provider.terms', locale)}"
    assert lines(shown) == [
        text("home.welcome.cost", locale, minimum=minimum, amount=amount, sats=sats, fee=fee),
        text("home.welcome.time", locale, measured=text("orders.help.measured", locale, **times)),
        text("home.welcome.trouble_support", locale),
        text("home.welcome.run_by", locale, provider=run_by),
    ]
    assert [name for name in LIGHTNING_WALLETS if name not in shown.text] == []
    assert len(shown.text.split("\n")) <= 8
    check_screen(shown)


@pytest.mark.parametrize("locale", LOCALES)
def test_figures_that_nobody_knows_are_left_out(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    assert lines(welcome(locale, None, UNNAMED, times=None)) == [
        text("home.welcome.cost_unpriced", locale, minimum=t.rupiah(20_000), fee=t.rupiah(5_000)),
        text("home.welcome.time_unmeasured", locale),
        text("home.welcome.trouble_support", locale),
    ]


@pytest.mark.parametrize(
    ("contacts", "said"),
    [
        (some_contacts(STAFF, "@kirim_help"), text("home.welcome.trouble_support")),
        (some_contacts(NOBODY, "@kirim_help"), text("home.welcome.trouble_contact", contact="@kirim_help")),
        (some_contacts(NOBODY, ""), text("home.welcome.trouble_alone")),
    ],
)
def test_a_newcomer_is_promised_support_only_where_there_is_some(contacts: SupportContacts, said: str) -> None:
    assert lines(welcome(contacts=contacts))[2] == said


async def nothing(_: object) -> None:
    return None


NOT_STAFF = SimpleNamespace(read_start=nothing)


class Catalogue(ServiceCatalogue):
    """A service that gives this quote, fails with it, or never answers."""

    def __init__(self, answer: Quote | Exception | None) -> None:
        clock = MovedClock()
        super().__init__(FakeSettlement(clock), clock)
        self._answer = answer

    async def quote(self, *, fresh: bool = False) -> Quote:  # noqa: ARG002  it is the same for all
        if isinstance(self._answer, Exception):
            raise self._answer
        if self._answer is None:
            await asyncio.Event().wait()
            raise AssertionError
        return self._answer


@pytest.mark.parametrize(
    ("answer", "has_price"),
    [
        (replace(QUOTE, fetched_at=NOW), True),
        (replace(QUOTE, fetched_at=NOW - timedelta(minutes=11)), False),
        (NeverReached(), False),
        (None, False),
    ],
    ids=["answers", "old", "fails", "hangs"],
)
async def test_a_service_that_cannot_be_reached_leaves_only_the_price_out(
    answer: Quote | Exception | None, *, has_price: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if answer is None:
        monkeypatch.setattr(catalogues, "LONGEST_WAIT", 0)

    async def times() -> PayoutTimes:
        return TIMES

    clock = MovedClock()
    clock.at = NOW
    rules = SimpleNamespace(min_order_idr=20_000, limits=SimpleNamespace(idr_per_day=0))
    catalogue = Catalogue(answer)
    facts = FactReader(
        rules=cast("Any", rules),
        payout_times=cast("Any", SimpleNamespace(get=times)),
        contacts=some_contacts(STAFF, ""),
        catalogue=catalogue,
    )
    below = SimpleNamespace(
        support=SimpleNamespace(agents=SimpleNamespace(guide=NOT_STAFF), facts=facts),
        operations=SimpleNamespace(status=NOT_STAFF),
        orders=SimpleNamespace(service=SimpleNamespace(catalogue=catalogue)),
        payment_requests=SimpleNamespace(is_on=False),
    )
    session = cast("Any", SimpleNamespace(t=TRANSLATIONS.get("en"), now=clock.now()))
    shown = ScreenCase("", await Start(cast("Any", below), UNNAMED).make(session))
    assert ("29,410 sats" in shown.text) is has_price
    assert len(lines(shown)) == 3
