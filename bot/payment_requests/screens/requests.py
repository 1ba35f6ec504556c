"""One's own requests: the list, one request with what can be done, and the questions for changes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.orders.repository import LinkTally
from bot.payment_requests.buttons import AskButton, RequestAction, RequestButton, RequestsButton
from bot.payment_requests.links import make_link
from bot.payment_requests.model import MAX_NOTE_LENGTH, PaymentRequest, RequestState
from bot.payment_requests.screens.ask import DAYS, format_days, format_end
from bot.payment_requests.screens.card import format_query
from bot.payment_requests.screens.formatting import format_line, format_note, format_state, format_sum, format_uses
from bot.recipients.buttons import RecipientAction, RecipientButton
from bot.recipients.formatting import format_full_method
from bot.recipients.matching import mask_number
from bot.recipients.model import SavedRecipient

PAGE_SIZE: Final = 8


def show_list(
    reader: Reader, requests: Sequence[PaymentRequest], tallies: Mapping[str, LinkTally], page: int = 0
) -> Screen:
    """Return one page of the list with what came in, or that there are no requests. `tallies` are by request."""
    t = reader.t
    if not requests:
        return Screen(t("payment_requests.list.none"), (ask_row(t),))
    pages = -(-len(requests) // PAGE_SIZE)
    page = min(page, pages - 1)
    shown = requests[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]
    rows = tuple((_list_button(reader, each, tallies.get(each.id, LinkTally())),) for each in shown)
    return Screen(t("payment_requests.list.ask"), (*rows, *_page_row(t, page, pages), ask_row(t)))


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


def show_request(reader: Reader, request: PaymentRequest, tally: LinkTally, bot: str, *, inline: bool) -> Screen:
    """Return all about one's own request, with what came in. Nothing is said of who paid."""
    t, state = reader.t, request.state_at(reader.now)
    text = t(
        "payment_requests.page.text",
        state=format_state(t, state),
        sum=format_sum(t, request.idr),
        holder=request.holder,
        bank=format_full_method(request.method),
        number=mask_number(request.number),
        note=request.note or t.plain("payment_requests.review.no_note"),
        uses=format_uses(t, is_reusable=request.is_reusable),
        end=format_end(reader, request.ends_at),
        link=make_link(bot, request.token),
    )
    text = Html("\n\n".join((text, *_format_tally(t, tally))))
    return Screen(text, (*_actions(t, request, state, bot, inline=inline), _all_row(t)))


def _all_row(t: Translator) -> tuple[Button, ...]:
    return (Button(t.plain("payment_requests.button.all"), data=RequestsButton().pack()),)


def _actions(t: Translator, request: PaymentRequest, state: RequestState, bot: str, *, inline: bool) -> Keyboard:
    if state in {RequestState.CLOSED, RequestState.PAID}:
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
        (
            _button(t, request, "payment_requests.edit.note", RequestAction.EDIT_NOTE),
            _button(t, request, "payment_requests.edit.end", RequestAction.EDIT_END),
        ),
        (pause, _button(t, request, "payment_requests.button.close", RequestAction.ASK_CLOSE)),
    )


def ask_note(t: Translator, request: PaymentRequest) -> Screen:
    """Return the question for another note."""
    remove = _button(t, request, "payment_requests.ask.no_note", RequestAction.REMOVE_NOTE)
    text = t("payment_requests.ask.note", line=format_line(t, request), longest=MAX_NOTE_LENGTH)
    return Screen(text, ((remove,), (_back_button(t, request),)))


def ask_end(t: Translator, request: PaymentRequest) -> Screen:
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
        yield t("payment_requests.page.received", sum=t.rupiah(tally.sent_idr), payments=payments)
    if tally.in_progress:
        yield t.plural("payment_requests.page.in_progress", tally.in_progress)
    if tally.failed:
        yield t.plural("payment_requests.page.failed", tally.failed)


def _list_button(reader: Reader, request: PaymentRequest, tally: LinkTally) -> Button:
    state = format_state(reader.t, request.state_at(reader.now))
    received = f" · +{reader.t.rupiah(tally.sent_idr)}" if tally.sent else ""
    label = f"{state} · {format_sum(reader.t, request.idr)}{received}" + (f" · {request.note}" if request.note else "")
    return Button(label[:64], data=RequestButton(request.id, RequestAction.SHOW).pack())


def _page_row(t: Translator, page: int, pages: int) -> Keyboard:
    if pages == 1:
        return ()

    def turn(label: str, to: int) -> Button:
        return Button(label, data=RequestsButton(to).pack())

    before = (turn(t.plain("recipients.destination.previous"), page - 1),) if page else ()
    after = (turn(t.plain("recipients.destination.next"), page + 1),) if page < pages - 1 else ()
    return ((*before, turn(f"{page + 1} / {pages}", page), *after),)


def _back_button(t: Translator, request: PaymentRequest) -> Button:
    return Button(t.plain("users.button.back"), data=RequestButton(request.id, RequestAction.SHOW).pack())


def _button(
    t: Translator, request: PaymentRequest, label: str, action: RequestAction, style: Style | None = None
) -> Button:
    return Button(t.plain(label), data=RequestButton(request.id, action).pack(), style=style)


def make_recipient_button(t: Translator, recipient: SavedRecipient) -> Button:
    """Return the button that begins a request to this account."""
    return Button(
        t.plain("payment_requests.button.ask_here"), data=RecipientButton(recipient.id, RecipientAction.ASK).pack()
    )
