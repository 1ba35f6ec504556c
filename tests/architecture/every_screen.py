"""Every screen there is, built with what may come from outside, and read as Telegram reads it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import product

from bot.checkout.draft import OrderDraft, Step
from bot.checkout.screens import draft as draft_screens
from bot.checkout.screens import requote
from bot.checkout.steps import amount, channel, destination, holder, number, review
from bot.core.errors import Remark
from bot.core.money import Amount
from bot.core.text import plain
from bot.core.zones import INDONESIAN
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.formatting import clip
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.destinations.model import PayoutTimes
from bot.orders.history import PAGE, HistoryPage
from bot.orders.missed_messages import LIST_LENGTH
from bot.orders.notification_kinds import AboutProblem, OrderNotification, OrderWarning
from bot.orders.preferences import CHOOSABLE
from bot.orders.receipts.screens import receipt, verify
from bot.orders.screens import (
    history,
    missed_orders,
    open_orders,
    order_messages,
    order_page,
    preferences,
    status_message,
    warnings,
)
from bot.orders.screens import payment as pay
from bot.orders.status_questions import screens as status_questions
from bot.payments.tokens import CODES, TOKENS
from bot.rates.history import Chart, ChartPeriod, make_history, to_points
from bot.rates.quote import estimate
from bot.rates.screens import rate, subscription
from bot.recipients import screens as recipients
from bot.settlement.client.fields import LONGEST_DETAIL
from bot.settlement.model import PayoutMethod, Quote
from bot.support.user_chat.screens.help import HelpFacts
from bot.support.user_chat.screens.welcome import answer_newcomer
from bot.users.model import User
from bot.users.phrase import MAX_LENGTH
from bot.users.provider import Provider
from bot.users.screens import phrase, settings, start
from tests.checkout.builders import a_draft_at_review
from tests.orders.builders import (
    DEPOSIT_ADDRESS,
    INVOICE,
    REPORTS,
    a_deposit_order,
    a_receipt,
    an_open_order,
    as_sent,
    every_event_of,
    orders_in_each_state,
    some_evidence,
)
from tests.orders.destination_screens import of_destinations, what_senders_are_told
from tests.recipients.builders import a_long_recipient
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.settlement.builders import LISTED_BCA, LISTED_GOPAY, QUOTE
from tests.staff.alarm_screens import alarm_screens
from tests.support.reveal_screens import of_seeing_more
from tests.support.staff_screens import of_staff
from tests.support.ticket_screens import CONTACTS, of_tickets, some_contacts
from tests.texts import TRANSLATIONS
from tests.users.builders import SUGGESTION, a_reader

PHRASE = "\U00020000" * 30 + " & kopi'"
"""As long as one may be, in Telegram's units: letters that count twice."""
LONG_NUMBER = "1234 5678 9012 3456 7890"
"""The longest account number, as the review shows it."""
SETTINGS_SECTIONS = (*settings.SECTIONS, preferences.SECTION, recipients.SECTION, subscription.SECTION)


def _reader(t: Translator) -> Reader:
    return Reader(t, JAKARTA, NOW)


def every_screen(locale: str, method: PayoutMethod = LISTED_BCA, typed: str = "1.500") -> Iterator[ScreenCase]:
    """All screens in one language; `method` and `typed` come from outside."""
    t = TRANSLATIONS.get(locale)
    yield from _of_questions(t, method, typed)
    yield from _of_recipients(t, method, typed)
    yield from _of_orders(t, method, typed)
    yield from _of_history(t, method, typed)
    yield from _of_notification(t, method, typed)
    yield from _of_receipts(t, method, typed)
    yield from _of_settings(t, typed)
    for name, shown in of_destinations(t, method, JAKARTA):
        yield ScreenCase(name, shown)
    for name, shown in alarm_screens(t, an_open_order(method), NOW, JAKARTA, typed):
        yield ScreenCase(name, shown)
    for name, shown, must_say in of_seeing_more(t, an_open_order(method), NOW, JAKARTA, typed):
        yield ScreenCase(name, shown, must_say)
    for name, shown in of_staff(t, an_open_order(method), NOW, JAKARTA, method=method, typed=typed):
        yield ScreenCase(name, shown)
    for name, shown in of_tickets(t, an_open_order(method), NOW, JAKARTA):
        yield ScreenCase(name, shown)


def _of_questions(t: Translator, method: PayoutMethod, typed: str) -> Iterator[ScreenCase]:
    draft = a_draft_at_review(method)
    fresh = replace(draft, step=Step.DESTINATION, method=None, number=None, holder=None, amount=None)
    others = [replace(LISTED_BCA, code=str(code)) for code in range(20)]
    yield ScreenCase("start", start.show_welcome(t))
    times = PayoutTimes(orders=20, median=timedelta(minutes=3), slow=timedelta(minutes=11))
    for contact, quote in product((*CONTACTS, None), (QUOTE, None)):
        contacts = some_contacts(frozenset({2001} if contact is None else ()), contact or "")
        facts = HelpFacts(minimum=20_000, a_day=0, times=times if quote else None, contacts=contacts)
        run_by = Provider(name=plain(typed)[:100], terms_url="https://kirim.example/terms")
        yield ScreenCase("start of a newcomer", start.show_welcome(t, answer_newcomer(t, facts, quote, run_by)))
    first = review.show_review(t, draft, estimate(Amount("IDR", 500_000), QUOTE), JAKARTA, is_first=True, phrase=PHRASE)
    yield ScreenCase("review of a first order", first, (PHRASE, LONG_NUMBER))
    yield from _of_the_rate(t, typed)
    yield ScreenCase("no destinations", destination.show_question(t, fresh, ()))
    for page in (0, 1, 2, 99):
        yield ScreenCase("destinations", destination.show_question(t, fresh, (method, *others, LISTED_GOPAY), 0, page))
    yield ScreenCase(
        "e-wallets", destination.show_question(t, fresh, (*others, LISTED_GOPAY, replace(method, kind="🐖" * 40)), 99)
    )
    yield ScreenCase("candidates", destination.show_candidates(t, fresh, typed, (method, LISTED_BCA, LISTED_GOPAY)))
    yield ScreenCase("number", number.show_question(t, replace(draft, step=Step.NUMBER), method))
    remark = Remark("recipients.number.unusual_length", {"method": method.name[:60], "expected": 10, "actual": 20})
    yield ScreenCase("doubt", number.show_doubt(t, draft, "1" * 20, remark), ("1" * 20,))
    yield ScreenCase("holder", holder.show_question(t, draft), ("12345678901234567890",))
    common = {each: estimate(each, QUOTE) for each in (Amount("IDR", idr) for idr in amount.COMMON)}
    for channel_code in ("lightning", "cbbtc"):
        yield ScreenCase("amount", amount.show_question(t, replace(draft, channel=channel_code), 20_000, common))
    yield ScreenCase("amount without prices", amount.show_question(t, draft, 20_000, dict.fromkeys(common)))
    yield ScreenCase("amount first", amount.show_question(t, replace(fresh, step=Step.AMOUNT), 20_000, common))
    several = (Amount("IDR", 1_500), Amount("IDR", 1_500_000), Amount("SAT", 10**15))
    readings = {each: estimate(each, QUOTE) for each in several}
    yield ScreenCase("readings", amount.show_readings(t, draft, typed, readings))
    yield ScreenCase("one reading", amount.show_readings(t, draft, typed, {several[1]: readings[several[1]]}))
    yield ScreenCase("dollars", amount.show_dollars(t, draft, typed, {several[1]: None}, Decimal("16251.3")))
    price = amount.show_price(t, fresh, {several[1]: readings[several[1]]})
    yield ScreenCase("destinations and a price", destination.show_question(t, fresh, (method,), price=price))
    yield ScreenCase("several of a line", destination.show_candidates(t, fresh, "", (method, LISTED_BCA)))
    yield ScreenCase("channel", channel.show_question(t, draft, CODES))
    yield from _of_reviews(t, method, draft)
    for known in (draft, fresh, replace(fresh, method=method), replace(fresh, amount=Amount("SAT", 1))):
        yield ScreenCase("expired", draft_screens.expired(t, known))
        if known.method or known.amount:  # nothing is lost of a draft without answers, so nobody is asked
            yield ScreenCase("unfinished", draft_screens.unfinished(t, known))
        resumed = draft_screens.with_resume(t, start.show_welcome(t), known)
        yield ScreenCase("with the way back", resumed)
        yield ScreenCase("service down", draft_screens.service_down(t, known))
        reason = t("orders.limits.open", count=5, again="14:05 WIB")
        yield ScreenCase("too many", draft_screens.limit_reached(t, known, reason), ("14:05 WIB",))


def _of_reviews(t: Translator, method: PayoutMethod, draft: OrderDraft) -> Iterator[ScreenCase]:
    for wish in (Amount("IDR", 500_000), Amount("SAT", 25_000)):
        wished = replace(draft, amount=wish, channel="cbbtc")
        shown = review.show_review(t, wished, estimate(wish, QUOTE), JAKARTA)
        for said in what_senders_are_told(t, method):
            longer = review.show_review(t, wished, estimate(wish, QUOTE), JAKARTA, is_first=True, time_needed=said)
            yield ScreenCase("review with a time", longer, (LONG_NUMBER,))
        yield ScreenCase("review", shown, (LONG_NUMBER, "0.00025 cbBTC" if wish.currency == "SAT" else "0.00029"))
        for sats in (29_411, 29_412):
            worth = estimate(Amount("SAT", sats), QUOTE)
            other = review.show_review(t, wished, worth, JAKARTA)
            yield ScreenCase("review of a deposit", other, (LONG_NUMBER, f"0.000{sats} cbBTC"))
        yield ScreenCase("what to change", review.show_changes(t, wished, other_ways=True))
        yield ScreenCase("confirmed", review.show_confirmed(t, an_open_order(method)), ("ABC2345",))


def _of_the_rate(t: Translator, typed: str) -> Iterator[ScreenCase]:
    quote = replace(QUOTE, usdc_idr=Decimal("16250.5"), source=typed * 20)
    lower = replace(QUOTE, btc_idr=QUOTE.btc_idr - 10**7, fetched_at=NOW - timedelta(minutes=5))
    yield ScreenCase("rate", rate.show_rate(t, QUOTE, JAKARTA, subscribed=False))
    yield ScreenCase("no rate", rate.explain_no_rate(t, subscribed=True))
    yield ScreenCase("old rate", rate.explain_stale_rate(t, QUOTE, JAKARTA, subscribed=False))
    for period in ChartPeriod:
        for seen in ((), to_points([replace(lower, fetched_at=NOW - period.length)]), to_points([lower])):
            chart = Chart(b"PNG", make_history(period, seen, quote))
            yield ScreenCase(
                "rate with its chart", rate.show_rate(t, quote, JAKARTA, chart, subscribed=True), is_caption=True
            )


def _of_recipients(t: Translator, method: PayoutMethod, typed: str) -> Iterator[ScreenCase]:
    fresh = replace(
        a_draft_at_review(method), step=Step.DESTINATION, method=None, number=None, holder=None, amount=None
    )
    full = a_long_recipient(method)
    every = (
        replace(full, label="<b>Ibu</b> 🙂" * 4),
        full,
        replace(full, holder=None),
        replace(full, label=typed[:40]),
    )
    yield ScreenCase(
        "destinations with recents", destination.show_question(t, fresh, (method, LISTED_GOPAY), recents=every * 3)
    )
    yield ScreenCase("people and banks", destination.show_candidates(t, fresh, typed, (method, LISTED_GOPAY), every))
    yield ScreenCase("no recipients", recipients.show_list(t, ()))
    for page in (0, 1, 9_999):
        yield ScreenCase("recipients", recipients.show_list(t, every * 3, page))
    for each in every:
        yield ScreenCase("recipient", recipients.show_recipient(t, each, NOW), (each.number,))
        yield ScreenCase("naming", recipients.ask_name(t, each))
        yield ScreenCase("holding", recipients.ask_holder(t, each))
        yield ScreenCase("deleting", recipients.ask_deletion(t, each), ("7890",))


def _of_orders(t: Translator, method: PayoutMethod, typed: str) -> Iterator[ScreenCase]:
    for moment, order in orders_in_each_state(method):
        refused = replace(order, refusal=typed * 100)
        for help_offered in (True, False):
            shown = order_messages.status_screen(_reader(t), refused, help_offered=help_offered)
            yield ScreenCase(f"state: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
            shown = status_message.screen(_reader(t), order, help_offered=help_offered)
            yield ScreenCase(f"card: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
        asked = status_questions.show_status(_reader(t), order, help_offered=True)
        for answer in (
            status_questions.explain_next_step(_reader(t), order),
            status_questions.explain_cancel(_reader(t), order) or t("orders.asked.newest"),
            status_questions.explain_unread(t, help_offered=True),
            status_questions.explain_unread(t, help_offered=False),
            status_questions.explain_own_invoice(_reader(t), order),
        ):
            yield ScreenCase(f"asked: {moment}", replace(asked, text=f"{answer}\n\n{asked.text}"), (order.reference,))
        shown = status_message.screen(_reader(t), order, help_offered=True, is_last=False)
        yield ScreenCase(f"before the receipt: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
    orders = [
        replace(order, reference=f"ABC234{place}") for place, (_, order) in enumerate(orders_in_each_state(method))
    ]
    yield ScreenCase("asked: none", status_questions.show_no_order(t))
    yield ScreenCase("asked: other invoice", status_questions.show_other_invoice(t))
    for some in ([], orders[:1], orders[:8], orders[8:16], orders[16:24]):
        yield ScreenCase("status", open_orders.screen(_reader(t), some), tuple(order.reference for order in some))
    for some in (orders[:LIST_LENGTH], orders[LIST_LENGTH : 2 * LIST_LENGTH], orders[-LIST_LENGTH:]):
        listed = missed_orders.show_list(_reader(t), some)
        yield ScreenCase("missed orders", listed, tuple(order.reference for order in some))
        yield ScreenCase("other missed orders", missed_orders.count(_reader(t), some * 100), (t.number(1_000),))
    for bolt11 in (INVOICE, INVOICE + "q" * 350, INVOICE + "q" * 2000):
        paid = pay.build_payment(_reader(t), an_open_order(method, bolt11=bolt11), PHRASE)
        yield ScreenCase("invoice", Screen(paid.caption, paid.keyboard), ("ABC2345", "29", PHRASE), is_caption=True)
        if paid.follow_up:
            yield ScreenCase("invoice's text", Screen(paid.follow_up), ("ABC2345", bolt11, PHRASE))
    for code, until in product(TOKENS, (None, NOW + timedelta(hours=1))):
        paid = pay.build_payment(_reader(t), replace(a_deposit_order(code, method), expires_at=until), PHRASE)
        yield ScreenCase(
            f"deposit in {code}",
            Screen(paid.caption, paid.keyboard),
            ("ABC2345", DEPOSIT_ADDRESS, PHRASE),
            is_caption=True,
        )


def _of_history(t: Translator, method: PayoutMethod, typed: str) -> Iterator[ScreenCase]:
    moments = list(orders_in_each_state(method))
    orders = tuple(replace(order, reference=f"ABC234{place}") for place, (_, order) in enumerate(moments))
    for first in range(0, len(orders), PAGE):
        some = orders[first : first + PAGE]
        listed = HistoryPage(some, some[0].reference, "" if first else None, "ABC2345", first + 10**6, 10**7)
        yield ScreenCase("history", history.screen(_reader(t), listed), tuple(order.reference for order in some))
    yield ScreenCase("no history", history.screen(_reader(t), HistoryPage((), "", None, None, 0, 0)))
    for moment, order in moments:
        told = replace(order, refusal=typed * 100, service_id=typed or None)
        reported = replace(told, evidence=some_evidence(partner_redeem_id=typed[:LONGEST_DETAIL] or None))
        for shown in (told, reported, replace(told, number="", holder=None)):
            seen = order_page.screen(_reader(t), shown, every_event_of(shown), help_offered=True)
            yield ScreenCase(f"page: {moment}", seen, ("ABC2345", t.rupiah(500_000)))


DRAWN_ELSEWHERE = {OrderNotification.PAID, OrderNotification.PAID_LATE, OrderNotification.SENT}
"""The status message, and the receipt."""


def _of_notification(t: Translator, method: PayoutMethod, typed: str) -> Iterator[ScreenCase]:
    moments = dict(orders_in_each_state(method))
    for moment in ("IDLE", "held", "offer over", "refused", "failed paid", "COMPLETED"):
        order = moments[moment]
        told = replace(order, refusal=typed * 100)
        for notice in set(REPORTS) - DRAWN_ELSEWHERE:
            shown = order_messages.screen(notice, _reader(t), told, help_offered=True)
            yield ScreenCase(f"{notice}: {moment}", shown, ("ABC2345", t.rupiah(500_000)))
        staffed = order_messages.screen(
            OrderNotification.STUCK, _reader(t), told, help_offered=True, staff_notified=True
        )
        yield ScreenCase(f"stuck, staff told: {moment}", staffed, ("ABC2345", t.rupiah(500_000)))
        for warning in OrderWarning:
            shown = warnings.screen(warning, t, order, AboutProblem("ABC2345", typed), NOW)
            yield ScreenCase(f"{warning}: {moment}", shown)
    for before in (an_open_order(method), an_open_order(method, requested_amount=Amount("SAT", 29_412))):
        for rupiah in (1_600_000_000, 1_700_000_000, 1_800_000_000):
            said = requote.difference(t, before, estimate(before.requested_amount, Quote(Decimal(rupiah), NOW)))
            yield ScreenCase("requote", Screen(said))


def _of_receipts(t: Translator, method: PayoutMethod, typed: str) -> Iterator[ScreenCase]:
    order, told = as_sent(an_open_order(method, holder=typed)), (t.rupiah(500_000), "ABC2345")
    yield ScreenCase("asking", verify.ask_for_code(t))
    yield ScreenCase("explained", verify.explain_in_group(t, "b" * 32))
    yield ScreenCase("false", verify.show_unknown(t))
    yield ScreenCase("refused", verify.show_limit(_reader(t), NOW + timedelta(days=2)))
    for each in (order, as_sent(a_deposit_order("btcb", method))):
        caption, keyboard = receipt.format_caption(t, each, a_receipt(), "b" * 32), receipt.build_keyboard(t, each)
        yield ScreenCase("receipt", Screen(caption, keyboard), (*told, "K7QM-2XPA-9RTW"), is_caption=True)
        yield ScreenCase("receipt as text", receipt.as_text(t, each, a_receipt()), (*told, "K7QM-2XPA-9RTW"))
        yield ScreenCase("true", verify.show_genuine(t, each, JAKARTA), told)
    yield ScreenCase(
        "true of the forgotten", verify.show_genuine(t, replace(order, number="", holder=None), JAKARTA), told
    )


def _of_settings(t: Translator, typed: str) -> Iterator[ScreenCase]:
    phrase_typed = clip(plain(typed), MAX_LENGTH)
    for has_one in (True, False):
        yield ScreenCase("phrase offered", phrase.offer_suggestion(t, SUGGESTION, has_one=has_one), (SUGGESTION.text,))
    yield ScreenCase("phrase asked", phrase.ask_phrase(t))
    for own in (PHRASE, SUGGESTION.text, phrase_typed or "ab & <c>"):
        yield ScreenCase("phrase shown", phrase.show_phrase(t, own), (own,))
        yield ScreenCase("phrase kept", phrase.confirm_saved(t, own), (own,))
        confirmed = review.show_confirmed(t, an_open_order(), phrase=own)
        yield ScreenCase("confirmed, with the phrase", confirmed, ("ABC2345", own))
    everything = {topic.name: str(topic.modes[-1]) for topic in CHOOSABLE}
    for zone in ("", "Asia/Jakarta", "Asia/Makassar", "America/Argentina/Buenos_Aires", "Etc/GMT-2", "Asia/Kathmandu"):
        for notices in (None, {"sent": "silent"}, everything):
            user = User(id=1001, created_at=NOW, time_zone=zone, notification_preferences=notices)
            yield ScreenCase("settings", settings.show_settings(a_reader(t, user), user, SETTINGS_SECTIONS))
            yield ScreenCase("notices", preferences.screen(t, user))
            yield ScreenCase("zones", settings.ask_zone(a_reader(t, user)))
    yield ScreenCase("language", settings.ask_language(t))
    yield ScreenCase("place asked", settings.ask_place(t))
    for keys in (INDONESIAN, ("Asia/Tokyo",), ("America/Argentina/Buenos_Aires", "Etc/GMT+3", "Asia/Kathmandu")):
        yield ScreenCase("places found", settings.offer_zones(Reader(t, JAKARTA, NOW), typed, keys))
