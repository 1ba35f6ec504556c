"""Every screen there is, built with what may come from outside, and read as Telegram reads it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.actions.ports import Recipient
from bot.chat.screen import Button, Screen
from bot.chat.screens import (
    amount,
    card,
    channel,
    destination,
    holder,
    lapsed,
    number,
    outcome,
    pay,
    rate,
    recipients,
    requote,
    review,
    staff_notes,
    start,
    status,
)
from bot.domain.draft import Ask, OrderDraft
from bot.domain.errors import Remark
from bot.domain.money import Ambiguous, Amount
from bot.domain.order import Deposit, Notice, Order, Phase
from bot.domain.payout import PayoutMethod
from bot.domain.quote import Quote, estimate
from bot.domain.timeline import STEP_OF_STATE, Step
from bot.domain.zones import PRESUMED
from bot.i18n import Translations, Translator
from bot.sandbox.bot_api import html, utf16

NOW = datetime(2026, 8, 17, 3, 5, tzinfo=UTC)
JAKARTA = PRESUMED
QUOTE = Quote(Decimal(1_700_123_456), NOW)
BCA = PayoutMethod("014", "BANK CENTRAL ASIA", "bank", 100_000_000)
GOPAY = PayoutMethod("gopay", "GOPAY", "ewallet", 20_000_000)
INVOICE = "lnbcrt294120n1" + "q" * 300
TO = "0x" + "Ab" * 20
TRANSLATIONS = Translations.load(strict=True)

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
STAFF = (Notice.STAFF_HELP, Notice.STAFF_BAD_INVOICE, Notice.STAFF_KEY_REFUSED, Notice.STAFF_KEY_WORKS)
TOLD = tuple(
    notice
    for notice in Notice
    if notice not in {*STAFF, Notice.INVOICE, Notice.CARD, Notice.CARD_EDIT, Notice.TAKE_DOWN, Notice.DRAFT_LAPSED}
)


@dataclass(frozen=True)
class Seen:
    """One screen, with what it must say: that of orders, which order it is."""

    name: str
    screen: Screen
    must_say: tuple[str, ...] = ()
    is_caption: bool = False

    @property
    def text(self) -> str:
        """What a person reads; raises what Telegram would refuse."""
        return html.parse(self.screen.text, lambda _: None)[0]

    @property
    def units(self) -> int:
        """Its length as Telegram counts."""
        return utf16.length(self.text)

    @property
    def buttons(self) -> list[Button]:
        """All of them, in order."""
        return [button for row in self.screen.keyboard for button in row]


def a_draft(method: PayoutMethod = BCA, **changes: Any) -> OrderDraft:
    """A draft at its review."""
    known: dict[str, Any] = {
        "id": "0123456789",
        "chat_id": 1001,
        "person_id": 1001,
        "ask": Ask.REVIEW,
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
        "person_id": 1001,
        "chat_id": 1001,
        "draft_id": "0123456789",
        "attempt": 1,
        "method": method,
        "number": "1234567890",
        "holder": "BUDI & <i>SANTOSO</i>",
        "given": Amount("IDR", 500_000),
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
    chain, contract, decimals = {
        "cbbtc": (8453, "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf", 8),
        "btcb": (56, "0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c", 18),
    }[channel_name]
    deposit = Deposit(channel_name, chain, "", "", contract, TO, decimals)
    return an_order(method, channel=channel_name, bolt11=None, expires_at=None, deposit=deposit)


def at_each_moment(method: PayoutMethod = BCA) -> Iterator[tuple[str, Order]]:
    """An order in every state and phase that a person may look at."""
    order = an_order(method)
    for phase in (Phase.INTENDED, Phase.UNKNOWN, Phase.UNRESOLVED, Phase.REFUSED, Phase.UNSHOWN):
        yield phase, replace(order, phase=phase, sats=None, idr=None, btc_idr=None, state="", bolt11=None)
    yield "held", replace(order, phase=Phase.HELD)
    yield "offer over", replace(order, phase=Phase.HELD, created_at=NOW - timedelta(days=2))
    for state, step in STEP_OF_STATE.items():
        paid_at = NOW if step >= Step.PAID else None
        yield state, replace(order, state=state, step=step, paid_at=paid_at)
    yield "no longer followed", replace(order, expires_at=None, phase=Phase.DONE)
    yield "never heard of", replace(order, state="SOMETHING_NEW")
    yield "expired", replace(order, expires_at=NOW, expiry_told=True)
    failed = replace(order, state="FAILED", phase=Phase.DONE, ended_at=NOW)
    yield "failed unpaid", failed
    yield "failed expired", replace(failed, expires_at=NOW, expiry_told=True)
    yield "failed paid", replace(failed, step=Step.SENDING, paid_at=NOW)
    yield "failed paid between two looks", replace(failed, paid_at=NOW)
    yield "nameless", replace(order, holder=None)


def every_screen(locale: str, method: PayoutMethod = BCA, typed: str = "1.500") -> Iterator[Seen]:
    """All screens in one language; `method` and `typed` come from outside."""
    t = TRANSLATIONS.get(locale)
    yield from _of_questions(t, method, typed)
    yield from _of_recipients(t, method, typed)
    yield from _of_orders(t, method, typed)
    yield from _of_news(t, method, typed)


def _of_questions(t: Translator, method: PayoutMethod, typed: str) -> Iterator[Seen]:
    draft = a_draft(method)
    fresh = replace(draft, ask=Ask.DESTINATION, method=None, number=None, holder=None, amount=None)
    others = [replace(BCA, code=str(code)) for code in range(20)]
    yield Seen("start", start.screen(t))
    yield Seen("help", start.help_screen(t))
    yield Seen("language", start.language_screen(t))
    yield Seen("rate", rate.screen(t, QUOTE, JAKARTA))
    yield Seen("no destinations", destination.screen(t, fresh, ()))
    for page in (0, 1, 2, 99):
        yield Seen("destinations", destination.screen(t, fresh, (method, *others, GOPAY), 0, page))
    yield Seen("e-wallets", destination.screen(t, fresh, (*others, GOPAY, replace(method, kind="🐖" * 40)), 99))
    yield Seen("candidates", destination.candidates(t, fresh, typed, (method, BCA, GOPAY)))
    yield Seen("number", number.screen(t, replace(draft, ask=Ask.NUMBER), method))
    remark = Remark("number.unusual_length", {"method": method.name[:60], "expected": 10, "actual": 20})
    yield Seen("doubt", number.doubt(t, draft, "1" * 20, remark), ("1" * 20,))
    yield Seen("holder", holder.screen(t, draft), ("12345678901234567890",))
    yield Seen("amount", amount.screen(t, draft, 20_000))
    readings = Ambiguous((Amount("IDR", 1_500), Amount("IDR", 1_500_000), Amount("SAT", 10**15)))
    yield Seen("readings", amount.readings(t, draft, typed, readings))
    yield Seen("channel", channel.screen(t, draft, ("lightning", "cbbtc", "btcb")))
    for wish in (Amount("IDR", 500_000), Amount("SAT", 25_000)):
        wished = replace(draft, amount=wish, channel="cbbtc")
        shown = review.screen(t, wished, estimate(wish, QUOTE), JAKARTA, other_ways=True)
        yield Seen("review", shown, ("12345678901234567890", t.sats(25_000) if wish.currency == "SAT" else "29"))
        yield Seen("confirmed", review.confirmed(t, wished, "ABC2345", JAKARTA), ("ABC2345", "12345678901234567890"))
    for known in (draft, fresh, replace(fresh, method=method), replace(fresh, amount=Amount("SAT", 1))):
        yield Seen("lapsed", lapsed.screen(t, known))


def a_recipient(method: PayoutMethod = BCA, **changes: Any) -> Recipient:
    """Somebody whom Emma has sent to."""
    known: dict[str, Any] = {
        "id": "0123456789abcdef",
        "person_id": 1001,
        "method": method,
        "number": "12345678901234567890",
        "holder": "BUDI & <i>SANTOSO</i>",
        "created_at": NOW - timedelta(days=9),
        "used_at": NOW - timedelta(days=2),
    }
    return Recipient(**{**known, **changes})


def _of_recipients(t: Translator, method: PayoutMethod, typed: str) -> Iterator[Seen]:
    fresh = replace(a_draft(method), ask=Ask.DESTINATION, method=None, number=None, holder=None, amount=None)
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
            shown = outcome.state(t, refused, NOW, JAKARTA, help_offered=help_offered)
            yield Seen(f"state: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
            shown = card.screen(t, order, NOW, JAKARTA, help_offered=help_offered)
            yield Seen(f"card: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
    orders = [replace(order, reference=f"ABC234{place}") for place, (_, order) in enumerate(at_each_moment(method))]
    for some in ([], orders[:1], orders[:8], orders[8:16], orders[16:24]):
        yield Seen("status", status.screen(t, some, NOW), tuple(order.reference for order in some))
    for bolt11 in (INVOICE, INVOICE + "q" * 350, INVOICE + "q" * 2000):
        paid = pay.payment(t, an_order(method, bolt11=bolt11), NOW, JAKARTA)
        yield Seen("invoice", Screen(paid.caption, paid.keyboard), ("ABC2345", "29"), is_caption=True)
        if paid.follow_up:
            yield Seen("invoice's text", Screen(paid.follow_up), ("ABC2345", bolt11))
    limited = replace(a_deposit("btcb", method), expires_at=NOW + timedelta(hours=1))
    for name, order in (("cbbtc", a_deposit("cbbtc", method)), ("btcb", limited)):
        paid = pay.payment(t, order, NOW, JAKARTA)
        yield Seen(f"deposit in {name}", Screen(paid.caption, paid.keyboard), ("ABC2345", TO), is_caption=True)


def _of_news(t: Translator, method: PayoutMethod, typed: str) -> Iterator[Seen]:
    moments = dict(at_each_moment(method))
    for moment in ("IDLE", "held", "offer over", "refused", "failed paid", "COMPLETED"):
        order = moments[moment]
        told = replace(order, refusal=typed * 100)
        for notice in TOLD:
            shown = outcome.screen(notice, t, told, NOW, JAKARTA, help_offered=True)
            yield Seen(f"{notice}: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
        for notice in STAFF:
            shown = staff_notes.screen(notice, t, order, {"reference": "ABC2345", "complaint": typed}, NOW)
            yield Seen(f"{notice}: {moment}", shown)
    for before in (an_order(method), an_order(method, given=Amount("SAT", 29_412))):
        for rupiah in (1_600_000_000, 1_700_000_000, 1_800_000_000):
            said = requote.difference(t, before, estimate(before.given, Quote(Decimal(rupiah), NOW)))
            yield Seen("requote", Screen(said))
