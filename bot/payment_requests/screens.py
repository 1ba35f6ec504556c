"""Screens of payment requests: the card, the questions and their review, one's own requests, and reported ones.

What askers wrote is shown as text, between quotation marks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Final

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft, RequestTerms
from bot.checkout.screens import format_draft_line, leave_row
from bot.core import csv
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, InlineAnswer, InlineResult, Keyboard, Screen, Style
from bot.orders.repository import LinkTally
from bot.payment_requests.buttons import (
    AskButton,
    AskOverButton,
    ReportAction,
    ReportedButton,
    ReportsButton,
    RequestAction,
    RequestButton,
    RequestsAction,
    RequestsActionButton,
    RequestsButton,
)
from bot.payment_requests.model import (
    MAX_NOTE_LENGTH,
    PaymentRequest,
    ReceivedPayment,
    ReportedRequest,
    RequestState,
    make_link,
    make_page_link,
)
from bot.payments.tokens import LIGHTNING_WALLETS
from bot.rates.model import Estimate
from bot.recipients.formatting import format_destination, format_full_method, group_digits
from bot.recipients.numbers import mask_number
from bot.recipients.screens import page_row


def format_amount(t: Translator, idr: int | None) -> str:
    """Return the amount, or that the payer decides."""
    return t.plain("payment_requests.amount.open") if idr is None else t.rupiah(idr)


def format_line(t: Translator, request: PaymentRequest) -> Html:
    """Return a request as a line, with a masked number: "Rp150,000 → BCA ••••7890"."""
    return t(
        "payment_requests.line",
        amount=format_amount(t, request.idr),
        destination=format_destination(request.method, request.number),
    )


def format_note(t: Translator, note: str | None) -> Html:
    """Return the note as a line of its own, between quotation marks, or nothing."""
    return Html(f"\n{t('payment_requests.note.quoted', note=note)}") if note else Html("")


def format_uses(t: Translator, *, is_reusable: bool) -> str:
    """Return how often a request can be paid."""
    return t.plain("payment_requests.uses.many" if is_reusable else "payment_requests.uses.once")


def format_state(t: Translator, state: RequestState) -> str:
    """Return the state of a request with its sign."""
    return t.plain(f"payment_requests.state.{state}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFacts:
    """The texts of a card, as plain text of any length. What isn't the asker's is in all languages, and not secret."""

    brand: str
    holder: str = field(repr=False)
    """Who asks, in the asker's own words."""

    title: str
    """That they ask."""

    amount: str
    subtitle: str
    """Bank or e-wallet, with the last digits of the number."""

    note: str = field(repr=False)
    """Empty for none."""

    link: str = field(repr=False)
    hints: tuple[str, ...]
    """How to pay with the QR code, in each language."""

    steps: tuple[str, ...]
    """The same in three words, for a printed card."""


BRAND: Final = "Kirim"
PAPERS: Final = {"6": 105, "4": 210}
"""The sizes of paper for a printed card, and their widths in millimetres."""

SHARED_CHARACTERS: Final = 8
"""Of a request's id, in the inline query that finds it."""


def build_facts(t: Translator, request: PaymentRequest, bot: str) -> CardFacts:
    """Return the texts of the picture."""
    return CardFacts(
        brand=BRAND,
        holder=request.holder,
        title=" · ".join(t.in_all("payment_requests.card.title")),
        amount=" · ".join(t.in_all("payment_requests.amount.open")) if request.idr is None else t.rupiah(request.idr),
        subtitle=format_destination(request.method, request.number),
        note=request.note or "",
        link=make_link(bot, request.token),
        hints=t.in_all("payment_requests.card.hint"),
        steps=t.in_all("payment_requests.card.steps"),
    )


def show_card(t: Translator, request: PaymentRequest, bot: str, *, inline: bool) -> Screen:
    """Return the caption and the buttons. With `inline` mode, one button shares the request in any chat."""
    link = make_link(bot, request.token)
    wallets = ", ".join(LIGHTNING_WALLETS)
    text = t("payment_requests.card.caption", asks=_format_asks(t, request), link=link, wallets=wallets)
    share = Button(t.plain("payment_requests.button.share"), inline=format_query(request), style="primary")
    copy = Button(t.plain("payment_requests.button.copy"), copy=link)
    page = Button(t.plain("payment_requests.button.page"), data=RequestButton(request.id, RequestAction.SHOW).pack())
    return Screen(text, (*(((share,),) if inline else ()), (copy, page)))


def format_query(request: PaymentRequest) -> str:
    """Return the inline query that finds this request among the asker's."""
    return f"#{request.id[:SHARED_CHARACTERS]}"


def show_inline_request(t: Translator, request: PaymentRequest, now: datetime, bot: str) -> InlineResult:
    """Return one's own request, and the message that asks for it in the asker's language."""
    shared = show_shared(t, request, LinkTally(), now, bot)
    description = " · ".join(filter(None, (format_destination(request.method, request.number), request.note)))
    title = f"{format_amount(t, request.idr)} · {request.holder}"
    return InlineResult(request.id, title, description, shared.text, shared.keyboard)


def show_shared(t: Translator, request: PaymentRequest, tally: LinkTally, now: datetime, bot: str) -> Screen:
    """Return the message in which an asker has shared a request, as the request is now.

    Everyone in its chat reads it, so it has neither payers nor what they paid. It says what became of the payment only
    if the request can be paid once.
    """
    asks, state = _format_asks(t, request), request.state_at(now)
    counts = {"sent": tally.sent, "in_progress": tally.in_progress, "failed": tally.failed}
    if not request.is_reusable and any(counts.values()):
        outcome = next(name for name, count in counts.items() if count)
        return Screen(f"{asks}\n\n{t(f'payment_requests.shared.{outcome}')}")
    if state is not RequestState.OPEN:
        return Screen(f"{asks}\n\n{t(f'payment_requests.pay.{state}')}")
    pay = Button(t.plain("payment_requests.inline.pay"), url=make_link(bot, request.token))
    return Screen(t("payment_requests.inline.message", asks=asks, wallets=", ".join(LIGHTNING_WALLETS)), ((pay,),))


def _format_asks(t: Translator, request: PaymentRequest) -> Html:
    return t(
        "payment_requests.asks",
        holder=request.holder,
        amount=format_amount(t, request.idr),
        destination=format_destination(request.method, request.number),
        note=format_note(t, request.note),
    )


def show_price(t: Translator, estimated: Estimate, bot: str) -> InlineResult:
    """Return the price of an amount."""
    amount, price = t.rupiah(estimated.idr), t.sats(estimated.sats)
    text = t("payment_requests.inline.price", amount=amount, sats=price, rate=t.rate(estimated.quote.btc_idr))
    send = Button(t.plain("payment_requests.inline.send"), url=f"https://t.me/{bot}?start=send")
    description = t.plain("payment_requests.inline.price_of")
    return InlineResult(f"price-{estimated.idr}", f"{amount} ≈ {price}", description, text, ((send,),))


def with_start(t: Translator, results: tuple[InlineResult, ...], word: str) -> InlineAnswer:
    """Return the answer. The button above the results leads to the private chat, to make a request."""
    return InlineAnswer(results, t.plain("payment_requests.inline.start"), word)


ONCE: Final = "once"
MANY: Final = "many"
DAYS: Final = (1, 7, 30, 0)
"""Days until the end, as buttons. 0 means no end."""


def add_open_amount(t: Translator, draft: OrderDraft, screen: Screen) -> Screen:
    """Return the question for the amount with the choice that the payer decides."""
    decides = Button(t.plain("payment_requests.ask.payer_decides"), data=draft_data(draft, DraftAction.SKIP))
    amounts, leave = screen.keyboard[:-1], screen.keyboard[-1:]
    return replace(screen, keyboard=(*amounts, (decides,), *leave))


def ask_note(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question for a note."""
    skip = Button(t.plain("payment_requests.ask.no_note"), data=draft_data(draft, DraftAction.SKIP))
    text = t("payment_requests.ask.note", line=Html(format_draft_line(t, draft)), longest=MAX_NOTE_LENGTH)
    return Screen(text, ((skip,), leave_row(t, draft)))


def ask_uses(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question how often the request can be paid."""
    once, many = (
        Button(t.plain(f"payment_requests.uses.{uses}"), data=draft_data(draft, DraftAction.USES, uses))
        for uses in (ONCE, MANY)
    )
    text = t("payment_requests.ask.uses", line=Html(format_draft_line(t, draft)))
    return Screen(text, ((once,), (many,), leave_row(t, draft)))


def ask_end(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question until when the request can be paid."""
    buttons = [Button(format_days(t, days), data=draft_data(draft, DraftAction.END, str(days))) for days in DAYS]
    text = t("payment_requests.ask.end", line=Html(format_draft_line(t, draft)))
    return Screen(text, (tuple(buttons[:2]), tuple(buttons[2:]), leave_row(t, draft)))


def format_days(t: Translator, days: int) -> str:
    """Return the label of an end that is so many days ahead, or of no end."""
    return str(t.plural("payment_requests.end.days", days)) if days else t.plain("payment_requests.end.none")


def show_review(reader: Reader, draft: OrderDraft) -> Screen:
    """Return the review: what payers will see, the whole number for the asker alone, and what confirming means."""
    t, terms = reader.t, draft.terms or RequestTerms()
    seen = t(
        "payment_requests.review.seen",
        amount=format_amount(t, None if draft.amount is None else draft.amount.value),
        holder=draft.holder or "",
        bank=format_full_method(draft.method),
        number=mask_number(draft.number or ""),
        note=terms.note or t.plain("payment_requests.review.no_note"),
        uses=format_uses(t, is_reusable=bool(terms.is_reusable)),
        end=format_end(reader, terms.ends_at),
    )
    own = t("payment_requests.review.own", number=group_digits(draft.number or ""))
    confirm = Button(
        t.plain("payment_requests.review.confirm"), data=draft_data(draft, DraftAction.CONFIRM), style="success"
    )
    change = Button(t.plain("checkout.review.change"), data=draft_data(draft, DraftAction.CHANGE))
    cancel = Button(t.plain("checkout.button.cancel"), data=draft_data(draft, DraftAction.CANCEL))
    return Screen(f"{seen}\n\n{own}\n\n{t('payment_requests.review.consent')}", ((confirm,), (change, cancel)))


def format_end(reader: Reader, ends_at: datetime | None) -> str:
    """Return the end in the reader's zone, or that there is none."""
    return reader.t.plain("payment_requests.end.none") if ends_at is None else reader.format_time(ends_at)


def show_confirmed(t: Translator, request: PaymentRequest) -> Screen:
    """Return what replaces the confirmed review: one line. The card follows as a message of its own."""
    return Screen(t("payment_requests.review.confirmed", line=format_line(t, request)))


def show_limit(t: Translator, reason: Html) -> Screen:
    """Return why the user can't make another request, with the way to the ones they have."""
    return Screen(reason, ((Button(t.plain("payment_requests.button.all"), data=RequestsButton().pack()),),))


def ask_to_replace(t: Translator, draft: OrderDraft) -> Screen:
    """Return the choice between the open draft and a payment request."""
    resume = Button(t.plain("checkout.draft.continue"), data=draft_data(draft, DraftAction.SHOW), style="primary")
    over = Button(t.plain("payment_requests.button.ask"), data=AskOverButton().pack())
    return Screen(t("payment_requests.ask.unfinished", line=Html(format_draft_line(t, draft))), ((resume,), (over,)))


PAGE_SIZE: Final = 8
OVER: Final = frozenset({RequestState.CLOSED, RequestState.PAID})
"""The states of a request that nothing can change."""
NEWEST: Final = 10
"""Of payments, in the list of requests."""


def show_list(
    reader: Reader,
    requests: Sequence[PaymentRequest],
    tallies: Mapping[str, LinkTally],
    payments: Sequence[ReceivedPayment] = (),
    page: int = 0,
    *,
    is_daily: bool = False,
) -> Screen:
    """Return one page of the list, or that there are no requests. The newest payments are above it, by day.

    `tallies` are by request. `is_daily`: the user gets one summary a day.
    """
    t = reader.t
    if not requests:
        return Screen(t("payment_requests.list.none"), (ask_row(t),))
    pages = -(-len(requests) // PAGE_SIZE)
    page = min(page, pages - 1)
    shown = requests[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]
    rows = tuple((_list_button(reader, each, tallies.get(each.id, LinkTally())),) for each in shown)
    return Screen(
        "\n\n".join((*_format_payments(reader, payments), t("payment_requests.list.ask"))),
        (
            *rows,
            *page_row(t, page, pages, lambda to: RequestsButton(to).pack()),
            *((_payments_row(t, is_daily=is_daily),) if payments else ()),
            ask_row(t),
        ),
    )


def _payments_row(t: Translator, *, is_daily: bool) -> tuple[Button, ...]:
    actions = RequestsAction.FILE, RequestsAction.EACH if is_daily else RequestsAction.DAILY
    labels = (Button(t.plain(f"payment_requests.button.{to}"), data=RequestsActionButton(to).pack()) for to in actions)
    return tuple(labels)


def _format_payments(reader: Reader, payments: Sequence[ReceivedPayment]) -> Iterator[Html]:
    """Yield the payments of each day below its total, the newest first. Only the newest have lines of their own.

    What failed doesn't count.
    """
    t, left = reader.t, NEWEST
    for day, of_day in groupby(payments, lambda each: reader.format_day(each.paid_at)):
        if not left:
            return
        all_of_day = list(of_day)
        counted = [each.idr for each in all_of_day if each.state != "failed"]
        payments_of_day = t.plural("payment_requests.page.payments", len(counted))
        total = t("payment_requests.list.day", day=day, total=t.rupiah(sum(counted)), payments=payments_of_day)
        shown, left = all_of_day[:left], max(left - len(all_of_day), 0)
        yield Html("\n".join((total, *(_format_payment(reader, each) for each in shown))))


def _format_payment(reader: Reader, payment: ReceivedPayment) -> Html:
    t = reader.t
    return t(
        "payment_requests.list.payment",
        time=t.clock(payment.paid_at, reader.zone),
        amount=t.rupiah(payment.idr),
        state=t.plain(f"payment_requests.list.{payment.state}"),
        about=_format_about(payment.request),
    )


def _format_about(request: PaymentRequest | None) -> str:
    """Return the reference of a request, or where the rupiah go. A dash if it can't be read."""
    return "-" if request is None else request.note or format_destination(request.method, request.number)


def build_file(reader: Reader, payments: Sequence[ReceivedPayment]) -> bytes:
    """Return the payments as CSV in the reader's language, the newest first. The times are those of their zone."""
    t = reader.t
    head = [t.plain(f"payment_requests.file.{column}") for column in ("time", "rupiah", "note", "state", "account")]
    rows = (
        (
            csv.format_time(each.paid_at.astimezone(reader.zone)),
            each.idr,
            csv.format_text(each.request and each.request.note),
            t.plain(f"payment_requests.file.{each.state}"),
            csv.format_text(each.request and format_destination(each.request.method, each.request.number)),
        )
        for each in payments
    )
    return csv.write_rows((head, *rows))


def show_file(t: Translator, count: int) -> Html:
    """Return the caption of the file of payments."""
    return t.plural("payment_requests.file.caption", count)


def show_summary(reader: Reader, payments: Sequence[ReceivedPayment]) -> Screen:
    """Return what came in on a day, for users who get no message about each payment."""
    parts = (reader.t("payment_requests.summary.text"), *_format_payments(reader, payments))
    return Screen("\n\n".join(parts), (_all_row(reader.t),))


def show_missed(
    t: Translator, requests: Sequence[PaymentRequest], tallies: Mapping[str, LinkTally], count: int
) -> Screen:
    """Return what came in by the `count` links about which their asker missed a message, of the first ones."""
    lines = [
        "\n".join(
            (format_line(t, each) + format_note(t, each.note), *_format_tally(t, tallies.get(each.id, LinkTally())))
        )
        for each in requests[:PAGE_SIZE]
    ]
    return Screen("\n\n".join((t.plural("payment_requests.missed", count), *lines)), (_all_row(t),))


def ask_row(t: Translator) -> tuple[Button, ...]:
    """Return the row with the button that begins a request."""
    return (make_ask_button(t),)


def make_ask_button(t: Translator) -> Button:
    """Return the button that begins a request."""
    return Button(t.plain("payment_requests.button.ask"), data=AskButton().pack())


def show_request(
    reader: Reader, request: PaymentRequest, tally: LinkTally, bot: str, *, inline: bool, public_url: str = ""
) -> Screen:
    """Return all about one's own request, with what came in. Nothing is said of who paid."""
    t, state = reader.t, request.state_at(reader.now)
    text = t(
        "payment_requests.page.text",
        state=format_state(t, state),
        amount=format_amount(t, request.idr),
        holder=request.holder,
        bank=format_full_method(request.method),
        number=mask_number(request.number),
        note=request.note or t.plain("payment_requests.review.no_note"),
        uses=format_uses(t, is_reusable=request.is_reusable),
        end=format_end(reader, request.ends_at),
        link=make_link(bot, request.token),
    )
    link = make_page_link(public_url, request.token)
    pages = (t("payment_requests.page.browsers", link=link),) if public_url and request.in_browsers else ()
    text = Html("\n\n".join((text, *pages, *_format_tally(t, tally))))
    browsers = _browser_rows(t, request, link) if public_url and state not in OVER else ()
    return Screen(text, (*_actions(t, request, state, bot, inline=inline), *browsers, _all_row(t)))


def _browser_rows(t: Translator, request: PaymentRequest, link: str) -> Keyboard:
    if not request.in_browsers:
        return ((_button(t, request, "payment_requests.button.browsers", RequestAction.ASK_BROWSERS),),)
    copy = Button(t.plain("payment_requests.button.copy_page"), copy=link)
    return ((copy, _button(t, request, "payment_requests.button.only_telegram", RequestAction.LEAVE_BROWSERS)),)


def ask_browsers(t: Translator, request: PaymentRequest) -> Screen:
    """Return what strangers will see in browsers, word for word, and the button that agrees to it."""
    agree = _button(t, request, "payment_requests.browsers.agree", RequestAction.TO_BROWSERS, "success")
    seen = t(
        "payment_requests.browsers.ask",
        holder=request.holder,
        amount=format_amount(t, request.idr),
        bank=format_full_method(request.method),
        number=mask_number(request.number),
        note=request.note or t.plain("payment_requests.review.no_note"),
    )
    return Screen(seen, ((agree,), (_back_button(t, request),)))


def _all_row(t: Translator) -> tuple[Button, ...]:
    return (Button(t.plain("payment_requests.button.all"), data=RequestsButton().pack()),)


def _actions(t: Translator, request: PaymentRequest, state: RequestState, bot: str, *, inline: bool) -> Keyboard:
    if state in OVER:
        return ()
    share = Button(t.plain("payment_requests.button.share"), inline=format_query(request), style="primary")
    copy = Button(t.plain("payment_requests.button.copy"), copy=make_link(bot, request.token))
    pause = (
        _button(t, request, "payment_requests.button.resume", RequestAction.RESUME)
        if state is RequestState.PAUSED
        else _button(t, request, "payment_requests.button.pause", RequestAction.PAUSE)
    )
    return (
        *(((share,),) if inline and state is RequestState.OPEN else ()),
        (copy, _button(t, request, "payment_requests.button.card", RequestAction.CARD)),
        *((_print_row(t, request),) if request.is_reusable else ()),
        (
            _button(t, request, "checkout.review.edit.note", RequestAction.EDIT_NOTE),
            _button(t, request, "checkout.review.edit.end", RequestAction.EDIT_END),
        ),
        (pause, _button(t, request, "payment_requests.button.close", RequestAction.ASK_CLOSE)),
    )


def _print_row(t: Translator, request: PaymentRequest) -> tuple[Button, ...]:
    """Return the buttons for a card on a counter, which is read many times."""
    papers = {size: t.plain("payment_requests.button.print", paper=f"A{size}") for size in PAPERS}
    to = RequestAction.PRINT
    return tuple(Button(label, data=RequestButton(request.id, to, size).pack()) for size, label in papers.items())


def ask_other_note(t: Translator, request: PaymentRequest) -> Screen:
    """Return the question for another note."""
    remove = _button(t, request, "payment_requests.ask.no_note", RequestAction.REMOVE_NOTE)
    text = t("payment_requests.ask.note", line=format_line(t, request), longest=MAX_NOTE_LENGTH)
    if request.in_browsers:  # to type it is to agree to it
        text = Html(f"{text}\n\n{t('payment_requests.browsers.note')}")
    return Screen(text, ((remove,), (_back_button(t, request),)))


def ask_other_end(t: Translator, request: PaymentRequest) -> Screen:
    """Return the question for another end."""
    buttons = [
        Button(format_days(t, days), data=RequestButton(request.id, RequestAction.SET_END, str(days)).pack())
        for days in DAYS
    ]
    text = t("payment_requests.ask.end", line=format_line(t, request))
    return Screen(text, (tuple(buttons[:2]), tuple(buttons[2:]), (_back_button(t, request),)))


def ask_close(t: Translator, request: PaymentRequest) -> Screen:
    """Return the question before a request is closed for good."""
    close = _button(t, request, "payment_requests.button.close_sure", RequestAction.CLOSE, "danger")
    return Screen(
        t("payment_requests.ask.close", line=format_line(t, request)), ((close,), (_back_button(t, request),))
    )


def _format_tally(t: Translator, tally: LinkTally) -> Iterator[Html]:
    """Yield what came in, what is on the way, and how many payments failed."""
    if tally.sent:
        payments = t.plural("payment_requests.page.payments", tally.sent)
        yield t("payment_requests.page.received", amount=t.rupiah(tally.sent_idr), payments=payments)
    if tally.in_progress:
        yield t.plural("payment_requests.page.in_progress", tally.in_progress)
    if tally.failed:
        yield t.plural("payment_requests.page.failed", tally.failed)


def _list_button(reader: Reader, request: PaymentRequest, tally: LinkTally) -> Button:
    state = format_state(reader.t, request.state_at(reader.now))
    received = f" · +{reader.t.rupiah(tally.sent_idr)}" if tally.sent and request.is_reusable else ""
    label = f"{state} · {format_amount(reader.t, request.idr)}{received}" + (
        f" · {request.note}" if request.note else ""
    )
    return Button(label[:64], data=RequestButton(request.id, RequestAction.SHOW).pack())


def _back_button(t: Translator, request: PaymentRequest) -> Button:
    return Button(t.plain("users.button.back"), data=RequestButton(request.id, RequestAction.SHOW).pack())


def _button(
    t: Translator, request: PaymentRequest, label: str, action: RequestAction, style: Style | None = None
) -> Button:
    return Button(t.plain(label), data=RequestButton(request.id, action).pack(), style=style)


def show_reports(reader: Reader, reported: Sequence[ReportedRequest]) -> Screen:
    """Return the reported requests, each a button, or that there are none."""
    t = reader.t
    if not reported:
        return Screen(t("payment_requests.reports.none"))
    rows = tuple((_reported_button(t, each),) for each in reported)
    return Screen(t("payment_requests.reports.list"), rows)


def show_reported(reader: Reader, request: PaymentRequest, reports: Mapping[str, int]) -> Screen:
    """Return a request in its asker's words, who asks, and what an operator can do. The number is masked.

    `reports` has how many payers have reported it, by their reason.
    """
    t, state = reader.t, request.state_at(reader.now)
    text = t(
        "payment_requests.reports.page",
        state=format_state(t, state),
        reports=t.plural("payment_requests.reports.count", sum(reports.values())),
        reasons="\n".join(f"{n} · {t.plain(f'payment_requests.report.{reason}')}" for reason, n in reports.items()),
        amount=format_amount(t, request.idr),
        holder=request.holder,
        destination=format_destination(request.method, request.number),
        note=format_note(t, request.note),
        user=str(request.user_id),
        at=reader.format_time(request.created_at, round_up=False),
    )
    close = _report_button(t, request.id, "payment_requests.button.close", ReportAction.ASK_CLOSE)
    close_all = _report_button(t, request.id, "payment_requests.reports.close_all", ReportAction.ASK_CLOSE_ALL)
    return Screen(text, (*(() if state in OVER else ((close,),)), (close_all,), _reports_row(t)))


def ask_close_reported(t: Translator, request_id: str) -> Screen:
    """Return the question before a request is closed."""
    sure = _report_button(t, request_id, "payment_requests.button.close_sure", ReportAction.CLOSE, is_danger=True)
    back = _report_button(t, request_id, "users.button.back", ReportAction.SHOW)
    return Screen(t("payment_requests.reports.ask_close"), ((sure,), (back,)))


def ask_close_all(t: Translator, request_id: str) -> Screen:
    """Return the question before all requests of an asker are closed."""
    sure = _report_button(
        t, request_id, "payment_requests.reports.close_all_sure", ReportAction.CLOSE_ALL, is_danger=True
    )
    back = _report_button(t, request_id, "users.button.back", ReportAction.SHOW)
    return Screen(t("payment_requests.reports.ask_close_all"), ((sure,), (back,)))


def show_report(t: Translator, request: PaymentRequest) -> Screen:
    """Return the notification to an operator that a request was reported. It doesn't repeat the asker's words."""
    look = _report_button(t, request.id, "payment_requests.reports.look", ReportAction.SHOW)
    return Screen(t("payment_requests.reports.reported", line=format_line(t, request)), ((look,),))


def show_closed(t: Translator, request: PaymentRequest, *, is_all: bool) -> Screen:
    """Return the notification to the asker that an operator has closed a request, or all of theirs."""
    key = "payment_requests.reports.all_yours_closed" if is_all else "payment_requests.reports.yours_closed"
    return Screen(t(key, line=format_line(t, request)))


def _reported_button(t: Translator, reported: ReportedRequest) -> Button:
    label = f"{reported.reports} · {format_amount(t, reported.request.idr)} · {reported.request.holder}"
    return Button(label[:64], data=ReportedButton(reported.request.id, ReportAction.SHOW).pack())


def _reports_row(t: Translator) -> tuple[Button, ...]:
    return (Button(t.plain("users.button.back"), data=ReportsButton().pack()),)


def _report_button(
    t: Translator, request_id: str, label: str, action: ReportAction, *, is_danger: bool = False
) -> Button:
    data = ReportedButton(request_id, action).pack()
    return Button(t.plain(label), data=data, style="danger" if is_danger else None)
