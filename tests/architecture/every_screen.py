"""Every screen there is, built with what may come from outside, and read as Telegram reads it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from bot.checkout.draft import OrderDraft, Step
from bot.checkout.screens import amount, channel, destination, holder, number, requote, review
from bot.checkout.screens import draft as draft_screens
from bot.checkout.screens import limit_warning as too_many
from bot.core.errors import Remark
from bot.core.money import Ambiguous, Amount
from bot.core.text import plain
from bot.core.zones import INDONESIAN, PRESUMED
from bot.infra.i18n import Translations, Translator
from bot.infra.telegram.ui.formatting import clip
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.history import PAGE, HistoryPage
from bot.orders.notifications.kinds import AboutProblem, OrderNotification, OrderWarning
from bot.orders.order import EventNote, Order, OrderEvent, Phase
from bot.orders.preferences import CHOOSABLE
from bot.orders.receipts.model import Receipt
from bot.orders.receipts.screens import receipt, verify
from bot.orders.screens import card, history, outcome, preferences, status, warnings
from bot.orders.screens import page as order_page
from bot.orders.screens import payment as pay
from bot.payments.erc681 import checksummed
from bot.payments.tokens import CODES, TOKENS
from bot.rates.charts import Chart
from bot.rates.history import Period, history_of, points_of
from bot.rates.quote import estimate
from bot.rates.screens import rate, subscription
from bot.recipients import screens as recipients
from bot.recipients.model import SavedRecipient
from bot.sandbox.bot_api.text import html, utf16
from bot.settlement.model import Deposit, PayoutMethod, Quote
from bot.settlement.steps import STEP_OF_STATE, OrderStep
from bot.users.model import User
from bot.users.phrase import LONGEST, Suggestion
from bot.users.screens import phrase, settings, start
from tests.staff.alarm_screens import of_alarms
from tests.support.reveal_screens import of_seeing_more
from tests.support.ticket_screens import of_tickets
from tests.texts import text

NOW = datetime(2026, 8, 17, 3, 5, tzinfo=UTC)
JAKARTA = PRESUMED
QUOTE = Quote(Decimal(1_700_123_456), NOW)
BCA = PayoutMethod("014", "BANK CENTRAL ASIA", "bank", 100_000_000)
GOPAY = PayoutMethod("gopay", "GOPAY", "ewallet", 20_000_000)
INVOICE = "lnbcrt294120n1" + "q" * 300
TO = checksummed("0x" + "ab" * 20)
PHRASE = "\U00020000" * 30 + " & kopi'"
"""As long as one may be, in Telegram's units: letters that count twice."""
LONG_NUMBER = "1234 5678 9012 3456 7890"
"""The longest account number, as the review shows it."""
SECTIONS = (*settings.SECTIONS, preferences.SECTION, recipients.SECTION, subscription.SECTION)
SUGGESTION = Suggestion("en-1-2-3", "purple coffee boat")
TRANSLATIONS = Translations.load(strict=True)
LINE = text("order.line", amount="Rp500,000", destination="BCA ••••7890", reference="ABC2345")
"""The line of `an_order()` in messages about it."""

HOSTILE_NAMES = (
    "<b>BANK</b> & Co",
    "&lt;script&gt;",
    "B" * 200,
    "🏦" * 200,
    "{amount} {0}",
    "بنك\u202eمصر\u200b",
    "A\nB\tC",
    "\u200b",
    "'\"><a href='https://evil.example'>x</a>",
)
PICTURES = (OrderNotification.INVOICE, OrderNotification.INVOICE_TEXT, OrderNotification.RECEIPT)
TAKING_DOWN = (OrderNotification.TAKE_DOWN, OrderNotification.TAKE_DOWN_PICTURE)
TOLD = tuple(
    notice
    for notice in OrderNotification
    if notice
    not in {
        *PICTURES,
        *TAKING_DOWN,
        OrderNotification.CARD,
        OrderNotification.CARD_EDIT,
    }
)


@lru_cache(maxsize=4096)
def _read(markup: str) -> str:
    return html.parse(markup, lambda _: None)[0]


@dataclass(frozen=True)
class Seen:
    """One screen, with what it must say: that of orders, which order it is."""

    name: str
    screen: Screen
    must_say: tuple[str, ...] = ()
    is_caption: bool = False

    @cached_property
    def text(self) -> str:
        """What a person reads; raises what Telegram would refuse."""
        return _read(self.screen.text)

    @property
    def units(self) -> int:
        """Its length as Telegram counts."""
        return utf16.length(self.text)

    @property
    def buttons(self) -> list[Button]:
        """All of them, in order."""
        return [button for row in self.screen.keyboard for button in row]


def _reader(t: Translator) -> Reader:
    return Reader(t, JAKARTA, NOW)


def a_draft(method: PayoutMethod = BCA, **changes: Any) -> OrderDraft:
    """A draft at its review."""
    known: dict[str, Any] = {
        "id": "0123456789",
        "chat_id": 1001,
        "user_id": 1001,
        "step": Step.REVIEW,
        "revision": 999_999,
        "method": method,
        "number": "12345678901234567890",
        "holder": "BUDI & <i>SANTOSO</i>",
        "holder_asked": True,
        "amount": Amount("IDR", 500_000),
        "quote": QUOTE,
        "expires_at": NOW + timedelta(minutes=30),
    }
    return OrderDraft(**{**known, **changes})


def an_order(method: PayoutMethod = BCA, **changes: Any) -> Order:
    """An order that waits for its payment."""
    known: dict[str, Any] = {
        "reference": "ABC2345",
        "user_id": 1001,
        "chat_id": 1001,
        "draft_id": "0123456789",
        "attempt": 1,
        "method": method,
        "number": "1234567890",
        "holder": "BUDI & <i>SANTOSO</i>",
        "requested_amount": Amount("IDR", 500_000),
        "channel": "lightning",
        "expected_sats": 29_410,
        "expected_idr": 500_000,
        "sats": 29_412,
        "idr": 500_000,
        "btc_idr": Decimal(1_700_000_000),
        "phase": Phase.OPEN,
        "state": "IDLE",
        "bolt11": INVOICE,
        "service_id": "cm1",
        "created_at": NOW - timedelta(minutes=1),
        "expires_at": NOW + timedelta(hours=1),
    }
    return Order(**{**known, **changes})


def a_deposit(channel_name: str, method: PayoutMethod = BCA) -> Order:
    """An order to be paid in tokens."""
    token = TOKENS[channel_name]
    deposit = Deposit(channel_name, token.chain.id, "", "", token.contract, TO, token.decimals)
    return an_order(method, channel=channel_name, bolt11=None, expires_at=None, deposit=deposit)


def at_each_moment(method: PayoutMethod = BCA) -> Iterator[tuple[str, Order]]:
    """An order in every state and phase that a person may look at."""
    order = an_order(method)
    for phase in (Phase.INTENDED, Phase.UNKNOWN, Phase.UNRESOLVED, Phase.REFUSED, Phase.ABANDONED):
        yield phase, replace(order, phase=phase, sats=None, idr=None, btc_idr=None, state="", bolt11=None)
    yield "held", replace(order, phase=Phase.NEEDS_CONFIRMATION)
    yield "offer over", replace(order, phase=Phase.NEEDS_CONFIRMATION, created_at=NOW - timedelta(days=2))
    for state, step in STEP_OF_STATE.items():
        paid_at = NOW if step >= OrderStep.PAID else None
        yield state, replace(order, state=state, step=step, paid_at=paid_at)
    yield "no longer followed", replace(order, expires_at=None, phase=Phase.DONE)
    yield "never heard of", replace(order, state="SOMETHING_NEW")
    yield "expired", replace(order, expires_at=NOW, expiry_notified=True)
    failed = replace(order, state="FAILED", phase=Phase.DONE, ended_at=NOW)
    yield "failed unpaid", failed
    yield "failed expired", replace(failed, expires_at=NOW, expiry_notified=True)
    yield "failed paid", replace(failed, step=OrderStep.SENDING, paid_at=NOW)
    yield "failed paid between two looks", replace(failed, paid_at=NOW)
    deposit = a_deposit("cbbtc", order.method)
    yield "failed unknown", replace(deposit, state="FAILED", phase=Phase.DONE, ended_at=NOW)
    yield (
        "stuck",
        replace(order, state="P2PM_ORDER_PLACED", step=OrderStep.SENDING, paid_at=NOW, overdue_notified_at=NOW),
    )
    yield "nameless", replace(order, holder=None)


def events_of(order: Order) -> list[OrderEvent]:
    """What may have been noted of an order on its way to where it stands, and everything else there is to note."""
    noted = [(phase, "", "") for phase in Phase] + [(Phase.OPEN, "", note) for note in EventNote]
    seen = [(Phase.OPEN, state, "") for state in ("IDLE", order.state, "FAILED")]
    moments = [NOW - timedelta(days=800 >> place) for place in range(len(noted) + len(seen))]
    return [
        OrderEvent(reference=order.reference, at=at, phase=phase, state=state, note=note)
        for at, (phase, state, note) in zip(moments, [*noted, *seen], strict=True)
    ]


def every_screen(locale: str, method: PayoutMethod = BCA, typed: str = "1.500") -> Iterator[Seen]:
    """All screens in one language; `method` and `typed` come from outside."""
    t = TRANSLATIONS.get(locale)
    yield from _of_questions(t, method, typed)
    yield from _of_recipients(t, method, typed)
    yield from _of_orders(t, method, typed)
    yield from _of_history(t, method, typed)
    yield from _of_notification(t, method, typed)
    yield from _of_receipts(t, method, typed)
    yield from _of_settings(t, typed)
    for name, shown in of_alarms(t, an_order(method), NOW, JAKARTA, typed):
        yield Seen(name, shown)
    for name, shown, must_say in of_seeing_more(t, an_order(method), NOW, JAKARTA, typed):
        yield Seen(name, shown, must_say)
    for name, shown in of_tickets(t, an_order(method), NOW, JAKARTA):
        yield Seen(name, shown)


def _of_questions(t: Translator, method: PayoutMethod, typed: str) -> Iterator[Seen]:
    draft = a_draft(method)
    fresh = replace(draft, step=Step.DESTINATION, method=None, number=None, holder=None, amount=None)
    others = [replace(BCA, code=str(code)) for code in range(20)]
    yield Seen("start", start.screen(t))
    yield Seen("start of a newcomer", start.screen(t, SUGGESTION), (SUGGESTION.text,))
    yield from _of_the_rate(t, typed)
    yield Seen("no destinations", destination.screen(t, fresh, ()))
    for page in (0, 1, 2, 99):
        yield Seen("destinations", destination.screen(t, fresh, (method, *others, GOPAY), 0, page))
    yield Seen("e-wallets", destination.screen(t, fresh, (*others, GOPAY, replace(method, kind="🐖" * 40)), 99))
    yield Seen("candidates", destination.candidates(t, fresh, typed, (method, BCA, GOPAY)))
    yield Seen("number", number.screen(t, replace(draft, step=Step.NUMBER), method))
    remark = Remark("number.unusual_length", {"method": method.name[:60], "expected": 10, "actual": 20})
    yield Seen("doubt", number.doubt(t, draft, "1" * 20, remark), ("1" * 20,))
    yield Seen("holder", holder.screen(t, draft), ("12345678901234567890",))
    yield Seen("amount", amount.screen(t, draft, 20_000))
    readings = Ambiguous((Amount("IDR", 1_500), Amount("IDR", 1_500_000), Amount("SAT", 10**15)))
    yield Seen("readings", amount.readings(t, draft, typed, readings))
    yield Seen("one reading", amount.readings(t, draft, typed, Ambiguous((Amount("IDR", 1_500),))))
    yield Seen("several of a line", destination.candidates(t, fresh, "", (method, BCA)))
    yield Seen("channel", channel.screen(t, draft, CODES))
    for wish in (Amount("IDR", 500_000), Amount("SAT", 25_000)):
        wished = replace(draft, amount=wish, channel="cbbtc")
        shown = review.screen(t, wished, estimate(wish, QUOTE), JAKARTA, other_ways=True)
        yield Seen("review", shown, (LONG_NUMBER, t.sats(25_000) if wish.currency == "SAT" else "29"))
        yield Seen("confirmed", review.confirmed(t, wished, "ABC2345", JAKARTA), ("ABC2345", LONG_NUMBER))
    for known in (draft, fresh, replace(fresh, method=method), replace(fresh, amount=Amount("SAT", 1))):
        yield Seen("expired", draft_screens.expired(t, known))
        yield Seen("too many", too_many.screen(t, known, t("limits.open", count=5, again="14:05 WIB")), ("14:05 WIB",))


def _of_the_rate(t: Translator, typed: str) -> Iterator[Seen]:
    quote = replace(QUOTE, usdc_idr=Decimal("16250.5"), source=typed * 20)
    lower = replace(QUOTE, btc_idr=QUOTE.btc_idr - 10**7, fetched_at=NOW - timedelta(minutes=5))
    yield Seen("rate", rate.screen(t, QUOTE, JAKARTA, subscribed=False))
    yield Seen("no rate", rate.none(t, subscribed=True))
    yield Seen("old rate", rate.stale(t, QUOTE, JAKARTA, subscribed=False))
    for period in Period:
        for seen in ((), points_of([replace(lower, fetched_at=NOW - period.length)]), points_of([lower])):
            chart = Chart(b"PNG", history_of(period, seen, quote))
            yield Seen("rate with its chart", rate.screen(t, quote, JAKARTA, chart, subscribed=True), is_caption=True)


def a_recipient(method: PayoutMethod = BCA, **changes: Any) -> SavedRecipient:
    """Somebody whom Emma has sent to."""
    known: dict[str, Any] = {
        "id": "0123456789abcdef",
        "user_id": 1001,
        "method": method,
        "number": "12345678901234567890",
        "holder": "BUDI & <i>SANTOSO</i>",
        "created_at": NOW - timedelta(days=9),
        "last_used_at": NOW - timedelta(days=2),
    }
    return SavedRecipient(**{**known, **changes})


def _of_recipients(t: Translator, method: PayoutMethod, typed: str) -> Iterator[Seen]:
    fresh = replace(a_draft(method), step=Step.DESTINATION, method=None, number=None, holder=None, amount=None)
    full = a_recipient(method)
    every = (
        replace(full, label="<b>Ibu</b> 🙂" * 4),
        full,
        replace(full, holder=None),
        replace(full, label=typed[:40]),
    )
    yield Seen("destinations with recents", destination.screen(t, fresh, (method, GOPAY), recents=every * 3))
    yield Seen("people and banks", destination.candidates(t, fresh, typed, (method, GOPAY), every))
    yield Seen("no recipients", recipients.screen(t, ()))
    for page in (0, 1, 9_999):
        yield Seen("recipients", recipients.screen(t, every * 3, page))
    for each in every:
        yield Seen("recipient", recipients.page(t, each, NOW), (each.number,))
        yield Seen("naming", recipients.naming(t, each))
        yield Seen("holding", recipients.holding(t, each))
        yield Seen("deleting", recipients.deleting(t, each), ("7890",))


def _of_orders(t: Translator, method: PayoutMethod, typed: str) -> Iterator[Seen]:
    for moment, order in at_each_moment(method):
        refused = replace(order, refusal=typed * 100)
        for help_offered in (True, False):
            shown = outcome.status_screen(_reader(t), refused, help_offered=help_offered)
            yield Seen(f"state: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
            shown = card.screen(_reader(t), order, help_offered=help_offered)
            yield Seen(f"card: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
    orders = [replace(order, reference=f"ABC234{place}") for place, (_, order) in enumerate(at_each_moment(method))]
    for some in ([], orders[:1], orders[:8], orders[8:16], orders[16:24]):
        yield Seen("status", status.screen(_reader(t), some), tuple(order.reference for order in some))
    for bolt11 in (INVOICE, INVOICE + "q" * 350, INVOICE + "q" * 2000):
        paid = pay.payment(_reader(t), an_order(method, bolt11=bolt11), PHRASE)
        yield Seen("invoice", Screen(paid.caption, paid.keyboard), ("ABC2345", "29", PHRASE), is_caption=True)
        if paid.follow_up:
            yield Seen("invoice's text", Screen(paid.follow_up), ("ABC2345", bolt11, PHRASE))
    for code, until in product(TOKENS, (None, NOW + timedelta(hours=1))):
        paid = pay.payment(_reader(t), replace(a_deposit(code, method), expires_at=until), PHRASE)
        yield Seen(f"deposit in {code}", Screen(paid.caption, paid.keyboard), ("ABC2345", TO, PHRASE), is_caption=True)


def _of_history(t: Translator, method: PayoutMethod, typed: str) -> Iterator[Seen]:
    moments = list(at_each_moment(method))
    orders = tuple(replace(order, reference=f"ABC234{place}") for place, (_, order) in enumerate(moments))
    for first in range(0, len(orders), PAGE):
        some = orders[first : first + PAGE]
        listed = HistoryPage(some, some[0].reference, "" if first else None, "ABC2345", first + 10**6, 10**7)
        yield Seen("history", history.screen(_reader(t), listed), tuple(order.reference for order in some))
    yield Seen("no history", history.screen(_reader(t), HistoryPage((), "", None, None, 0, 0)))
    for moment, order in moments:
        told = replace(order, refusal=typed * 100, service_id=typed or None)
        for shown in (told, replace(told, number="", holder=None)):
            seen = order_page.screen(_reader(t), shown, events_of(shown), help_offered=True)
            yield Seen(f"page: {moment}", seen, ("ABC2345", t.rupiah(500_000)))


def _of_notification(t: Translator, method: PayoutMethod, typed: str) -> Iterator[Seen]:
    moments = dict(at_each_moment(method))
    for moment in ("IDLE", "held", "offer over", "refused", "failed paid", "COMPLETED"):
        order = moments[moment]
        told = replace(order, refusal=typed * 100)
        for notice in TOLD:
            shown = outcome.screen(notice, _reader(t), told, help_offered=True)
            yield Seen(f"{notice}: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
        staffed = outcome.screen(OrderNotification.STUCK, _reader(t), told, help_offered=True, staff_notified=True)
        yield Seen(f"stuck, staff told: {moment}", staffed, ("ABC2345", t.rupiah(500_000)))
        for warning in OrderWarning:
            shown = warnings.screen(warning, t, order, AboutProblem("ABC2345", typed), NOW)
            yield Seen(f"{warning}: {moment}", shown)
    for before in (an_order(method), an_order(method, requested_amount=Amount("SAT", 29_412))):
        for rupiah in (1_600_000_000, 1_700_000_000, 1_800_000_000):
            said = requote.difference(t, before, estimate(before.requested_amount, Quote(Decimal(rupiah), NOW)))
            yield Seen("requote", Screen(said))


def a_receipt() -> Receipt:
    """The receipt of `an_order` that was sent."""
    return Receipt(reference="ABC2345", code="K7QM-2XPA-9RTW", code_hash="ab" * 32, created_at=NOW)


def sent(order: Order) -> Order:
    """An order at its happy end."""
    done = {"phase": Phase.DONE, "state": "COMPLETED", "step": OrderStep.SENT, "paid_at": NOW - timedelta(minutes=2)}
    return replace(order, **done, ended_at=NOW)  # type: ignore[arg-type]


def _of_receipts(t: Translator, method: PayoutMethod, typed: str) -> Iterator[Seen]:
    order, told = sent(an_order(method, holder=typed)), (t.rupiah(500_000), "ABC2345")
    yield Seen("asking", verify.asking(t))
    yield Seen("explained", verify.explained(t, "b" * 32))
    yield Seen("false", verify.false(t))
    yield Seen("refused", verify.refused(_reader(t), NOW + timedelta(days=2)))
    for each in (order, sent(a_deposit("btcb", method))):
        caption, keyboard = receipt.caption(t, each, a_receipt(), "b" * 32), receipt.keyboard(t, each)
        yield Seen("receipt", Screen(caption, keyboard), (*told, "K7QM-2XPA-9RTW"), is_caption=True)
        yield Seen("true", verify.true(t, each, JAKARTA), told)
    yield Seen("true of the forgotten", verify.true(t, replace(order, number="", holder=None), JAKARTA), told)


def reader_of(t: Translator, user: User) -> Reader:
    return Reader(t, user.zone, NOW)


def _of_settings(t: Translator, typed: str) -> Iterator[Seen]:
    phrase_typed = clip(plain(typed), LONGEST)
    for has_one in (True, False):
        yield Seen("phrase offered", phrase.offer(t, SUGGESTION, has_one=has_one), (SUGGESTION.text,))
    yield Seen("phrase asked", phrase.own(t))
    for own in (PHRASE, SUGGESTION.text, phrase_typed or "ab & <c>"):
        yield Seen("phrase shown", phrase.mine(t, own), (own,))
        yield Seen("phrase kept", phrase.kept(t, own), (own,))
        confirmed = review.confirmed(t, a_draft(), "ABC2345", JAKARTA, phrase=own)
        yield Seen("confirmed, with the phrase", confirmed, ("ABC2345", own))
    everything = {topic.name: str(topic.modes[-1]) for topic in CHOOSABLE}
    for zone in ("", "Asia/Jakarta", "Asia/Makassar", "America/Argentina/Buenos_Aires", "Etc/GMT-2", "Asia/Kathmandu"):
        for notices in (None, {"sent": "silent"}, everything):
            user = User(id=1001, created_at=NOW, time_zone=zone, notification_preferences=notices)
            yield Seen("settings", settings.screen(reader_of(t, user), user, SECTIONS))
            yield Seen("notices", preferences.screen(t, user))
            yield Seen("zones", settings.zones(reader_of(t, user)))
    yield Seen("language", settings.language(t))
    yield Seen("place asked", settings.place(t))
    for keys in (INDONESIAN, ("Asia/Tokyo",), ("America/Argentina/Buenos_Aires", "Etc/GMT+3", "Asia/Kathmandu")):
        yield Seen("places found", settings.found(Reader(t, JAKARTA, NOW), typed, keys))
