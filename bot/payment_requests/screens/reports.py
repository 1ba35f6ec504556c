"""Reported requests, for operators, and what operators and askers read about them."""

from collections.abc import Mapping, Sequence

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.payment_requests.buttons import ReportAction, ReportedButton, ReportsButton
from bot.payment_requests.model import PaymentRequest, ReportedRequest, RequestState
from bot.payment_requests.screens.formatting import format_line, format_note, format_state, format_sum
from bot.recipients.formatting import format_destination


def show_list(reader: Reader, reported: Sequence[ReportedRequest]) -> Screen:
    """Return the reported requests, each a button, or that there are none."""
    t = reader.t
    if not reported:
        return Screen(t("payment_requests.reports.none"))
    rows = tuple((_list_button(t, each),) for each in reported)
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
        sum=format_sum(t, request.idr),
        holder=request.holder,
        destination=format_destination(request.method, request.number),
        note=format_note(t, request.note),
        user=str(request.user_id),
        at=reader.format_time(request.created_at, round_up=False),
    )
    close = _button(t, request.id, "payment_requests.button.close", ReportAction.ASK_CLOSE)
    close_all = _button(t, request.id, "payment_requests.reports.close_all", ReportAction.ASK_CLOSE_ALL)
    is_closed = state in {RequestState.CLOSED, RequestState.PAID}
    return Screen(text, (*(() if is_closed else ((close,),)), (close_all,), _back_row(t)))


def ask_close(t: Translator, request_id: str) -> Screen:
    """Return the question before a request is closed."""
    sure = _button(t, request_id, "payment_requests.button.close_sure", ReportAction.CLOSE, is_danger=True)
    back = _button(t, request_id, "users.button.back", ReportAction.SHOW)
    return Screen(t("payment_requests.reports.ask_close"), ((sure,), (back,)))


def ask_close_all(t: Translator, request_id: str) -> Screen:
    """Return the question before all requests of an asker are closed."""
    sure = _button(t, request_id, "payment_requests.reports.close_all_sure", ReportAction.CLOSE_ALL, is_danger=True)
    back = _button(t, request_id, "users.button.back", ReportAction.SHOW)
    return Screen(t("payment_requests.reports.ask_close_all"), ((sure,), (back,)))


def show_report(t: Translator, request: PaymentRequest) -> Screen:
    """Return the notification to an operator that a request was reported. It doesn't repeat the asker's words."""
    look = _button(t, request.id, "payment_requests.reports.look", ReportAction.SHOW)
    return Screen(t("payment_requests.reports.reported", line=format_line(t, request)), ((look,),))


def show_closed(t: Translator, request: PaymentRequest, *, is_all: bool) -> Screen:
    """Return the notification to the asker that an operator has closed a request, or all of theirs."""
    key = "payment_requests.reports.all_yours_closed" if is_all else "payment_requests.reports.yours_closed"
    return Screen(t(key, line=format_line(t, request)))


def _list_button(t: Translator, reported: ReportedRequest) -> Button:
    label = f"{reported.reports} · {format_sum(t, reported.request.idr)} · {reported.request.holder}"
    return Button(label[:64], data=ReportedButton(reported.request.id, ReportAction.SHOW).pack())


def _back_row(t: Translator) -> tuple[Button, ...]:
    return (Button(t.plain("users.button.back"), data=ReportsButton().pack()),)


def _button(t: Translator, request_id: str, label: str, action: ReportAction, *, is_danger: bool = False) -> Button:
    data = ReportedButton(request_id, action).pack()
    return Button(t.plain(label), data=data, style="danger" if is_danger else None)
