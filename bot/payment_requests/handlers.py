"""Handle `/request` and `/requests`, the buttons of one's own requests, and operators' `/reports`.

A button carries the request's id. It works only for the request's own user, also if its message was forwarded.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from telegram import Update

from bot.checkout.answers import with_recipient
from bot.checkout.draft import OrderDraft, RequestTerms
from bot.checkout.handlers import DraftHandlers
from bot.checkout.one_line import ASKS
from bot.checkout.one_line_handlers import OneLineHandlers
from bot.checkout.open_draft import DRAFT, draft_of, is_late, is_replayed
from bot.checkout.steps import OutOfDate
from bot.checkout.steps.recipient import find_method
from bot.core.errors import Rejection
from bot.core.time_of_day import read_moment
from bot.infra.i18n import Html
from bot.infra.telegram.outbound.sender import Delivered, Invalid
from bot.infra.telegram.ui.routes import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.missed_messages import HAS_MISSED
from bot.orders.repository import LinkTally, MissedOrderRepository
from bot.payment_requests import screens
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
from bot.payment_requests.inline import ASK
from bot.payment_requests.model import DAILY, PaymentRequest, gets_summary, make_page_link
from bot.payment_requests.notifications import draw_for_print_off_loop
from bot.payment_requests.service import PaymentRequestService, ReportService, TooManyRequests
from bot.payment_requests.steps import end_after
from bot.payment_requests.wording import read_note
from bot.recipients.formatting import format_method
from bot.recipients.model import SavedRecipient
from bot.settlement.catalogue import ServiceCatalogue
from bot.users import questions
from bot.users.session import Session

NOTE: Final = "payment_request_note"
END: Final = "payment_request_end"
NAMES_ACCOUNT: Final = re.compile(r"(?:ke|to)\s|\S+\Z|.*\d", re.IGNORECASE)
"""A line without an amount that may name an account, and not what to do with one: "refund bca"."""


_Action = Callable[[Session, PaymentRequest, RequestButton], Awaitable[object]]
_ActionOnAll = Callable[[Session, RequestsActionButton], Awaitable[object]]


class PaymentRequestHandlers:
    """Let users ask for rupiah, and manage their requests."""

    def __init__(
        self,
        *,
        requests: PaymentRequestService,
        draft_handlers: DraftHandlers,
        one_line: OneLineHandlers,
        catalogue: ServiceCatalogue,
        is_on: bool,
        public_url: str = "",
    ) -> None:
        self._public_url = public_url
        self._requests = requests
        self._draft_handlers = draft_handlers
        self._one_line = one_line
        self._catalogue = catalogue
        self._is_on = is_on

    def routes(self) -> Routes[Session]:
        """Return the commands and the buttons."""
        routes = Routes[Session]()
        routes.add_command("request", self.request, menu={Menu.EVERYONE: 15})
        routes.add_command("requests", self.show_requests, menu={Menu.EVERYONE: 17})
        routes.add_button(AskButton, self.ask_button)
        routes.add_button(AskOverButton, self.ask_over_button)
        routes.add_button(RequestsButton, self.requests_button)
        of_all: Mapping[RequestsAction, _ActionOnAll] = {
            RequestsAction.FILE: self._send_file,
            RequestsAction.DAILY: self._choose_summary,
            RequestsAction.EACH: self._choose_summary,
        }
        routes.add_actions(RequestsActionButton, self.requests_action_button, of_all)
        actions: Mapping[RequestAction, _Action] = {
            RequestAction.SHOW: self._show,
            RequestAction.CARD: self._send_card,
            RequestAction.PAUSE: self._changing(self._requests.pause, "payment_requests.page.paused"),
            RequestAction.RESUME: self._changing(self._requests.resume, "payment_requests.page.resumed"),
            RequestAction.ASK_CLOSE: self._ask_close,
            RequestAction.CLOSE: self._changing(self._requests.close, "payment_requests.page.closed"),
            RequestAction.EDIT_NOTE: self._ask_note,
            RequestAction.REMOVE_NOTE: self._remove_note,
            RequestAction.EDIT_END: self._ask_end,
            RequestAction.SET_END: self._set_end,
            RequestAction.ASK_BROWSERS: self._ask_browsers,
            RequestAction.TO_BROWSERS: self._changing(
                partial(self._requests.set_in_browsers, is_on=True), "payment_requests.page.in_browsers"
            ),
            RequestAction.LEAVE_BROWSERS: self._changing(
                partial(self._requests.set_in_browsers, is_on=False), "payment_requests.page.only_telegram"
            ),
            RequestAction.PRINT: self._print,
        }
        routes.add_actions(RequestButton, self.request_button, actions, belongs_to="payment_request")
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the typed answer to each question."""
        return {NOTE: questions.accept_text(self.note_typed), END: questions.accept_text(self.end_typed)}

    async def request(self, session: Session, line: str) -> None:
        """Begin a request with what the line says. Without one, ask whether to continue a draft with answers."""
        session.message_id = None
        if line:
            await self._begin(session, line=ASKS.sub("", line))
        else:
            await self._begin_or_ask(session)

    async def open_link(self, session: Session, word: str) -> bool:
        """Begin a request, as inline answers offer it. Return False for any other word after `/start`."""
        if word != ASK or not self._is_on:
            return False
        await self.request(session, "")
        return True

    async def take_line(self, session: Session, update: Update) -> bool:
        """Begin a request with a message that asks for an amount or names an account. Return False for all else."""
        text, draft = session.typed.text or "" if session.typed else "", session[DRAFT]
        if not self._is_on or not ASKS.search(text) or (update.message and update.message.forward_origin):
            return False
        line = ASKS.sub("", text)
        is_else = is_replayed(session) or is_late(session) or (draft is not None and draft.terms is not None)
        if is_else or not (
            await self._one_line.is_order(session, f"kirim {line}")
            or (NAMES_ACCOUNT.match(line) and await self._one_line.is_order(session, f"100rb {line}"))
        ):
            return False
        await self._begin_or_ask(session, line)
        return True

    async def ask_button(self, session: Session, _: object) -> None:
        """Begin a request in a new message."""
        await session.acknowledge()
        await self.request(session, "")

    async def ask_over_button(self, session: Session, _: AskOverButton) -> None:
        """Begin a request in place of the open draft."""
        await session.acknowledge()
        if not is_replayed(session):
            session[DRAFT] = None  # the user has decided, and needs no notice
        await self._begin(session)

    async def ask_to_recipient(self, session: Session, recipient: SavedRecipient) -> None:
        """Begin a request to a saved recipient, who is the user. Ask only for what is missing."""
        method = await find_method(self._catalogue, recipient.method)
        if method is None:
            session.notice = session.t("checkout.recipient.vanished", name=format_method(recipient.method))
            await self._begin(session)
        else:
            await self._begin(session, with_recipient(draft_of(session, RequestTerms()), recipient, method))

    async def show_requests(self, session: Session, _: str) -> None:
        """Show the first page of the list."""
        session.message_id = None
        await self._list(session)

    async def requests_button(self, session: Session, button: RequestsButton) -> None:
        """Show a page of the list."""
        await session.acknowledge()
        self._keep_card(session)
        await self._list(session, button.page)

    async def requests_action_button(self, session: Session, button: RequestsActionButton, act: _ActionOnAll) -> None:
        """Do the action of a button about the payments of all requests."""
        await session.acknowledge()
        await act(session, button)

    async def show_missed(self, session: Session) -> None:
        """Show what came in by the links about which the user missed a message."""
        if not session[HAS_MISSED]:
            return
        async with session.infra.database.reading() as tx:
            missed = [each for each in await MissedOrderRepository(tx).of_user(session.user.id) if each.link]
        if not missed:
            return
        links = {each.link for each in missed}
        own = [each for each in await self._requests.list_own(session.user.id) if each.id in links]
        screen = screens.show_missed(session.t, own, await self._requests.tally(own), len(links))
        sent = await session.send_message(screen)
        if isinstance(sent, Invalid):
            sent = await session.send_message(screens.show_missed(session.t, (), {}, len(links)))
        if isinstance(sent, Delivered):
            async with session.infra.database.transaction() as tx:
                await MissedOrderRepository(tx).delete(missed)

    async def request_button(self, session: Session, button: RequestButton, act: _Action) -> None:
        """Do the action of a request's button, if the request is this user's."""
        request = await self._requests.get_own(session.user.id, button.request_id)
        self._keep_card(session)
        if request is None:
            await self._explain_gone(session)
            return
        await session.acknowledge()
        await act(session, request, button)

    async def note_typed(self, session: Session, request_id: str, text: str) -> None:
        """Save the typed note. If it can't be used, say why and ask again."""
        try:
            note = read_note(text)
        except Rejection as rejection:
            await self._ask_again(session, request_id, rejection, screens.ask_other_note)
        else:
            changed = await self._requests.set_note(questions.mark_answered(session), request_id, note)
            await self._show_changed(session, changed, "payment_requests.page.note_changed")

    async def end_typed(self, session: Session, request_id: str, text: str) -> None:
        """Save the typed end. If it can't be used, say why and ask again."""
        try:
            ends_at = read_moment(text, session.now, session.zone)
            changed = await self._requests.set_end(questions.mark_answered(session), request_id, ends_at)
        except Rejection as rejection:
            await self._ask_again(session, request_id, rejection, screens.ask_other_end)
        else:
            await self._show_changed(session, changed, "payment_requests.page.end_changed")

    async def show_result(self, session: Session, draft: OrderDraft) -> None:
        """Show the request that a draft has become. Its card was queued with it."""
        request = await self._requests.of_draft(draft.id)
        if request is None:
            await session.explain("payment_requests.gone")
        elif session.message_id == draft.message_id:
            await session.edit_message(screens.show_confirmed(session.t, request))
        else:
            session.message_id = None
            await self._show_page(session, request)

    async def _begin_or_ask(self, session: Session, line: str = "") -> None:
        draft = session[DRAFT]
        if draft is not None and not is_replayed(session) and draft.has_answers:
            await session.ask(screens.ask_to_replace(session.t, draft))
        else:
            await self._begin(session, line=line)

    async def _begin(self, session: Session, draft: OrderDraft | None = None, *, line: str = "") -> None:
        """Begin a draft, an empty one or also with a line, unless the user has as many open requests as allowed."""
        if not is_replayed(session):
            try:
                await self._requests.check_limit(session.user.id)
            except TooManyRequests as reached:
                await session.show(screens.show_limit(session.t, session.format_rejection(reached)))
                return
            if not line:
                await self._draft_handlers.begin(session, draft or draft_of(session, RequestTerms()))
        if line:
            await self._one_line.begin(session, line, await self._draft_to_own_account(session))
        else:
            await self._draft_handlers.show(session)

    async def _draft_to_own_account(self, session: Session) -> OrderDraft:
        """Return a draft to the account of the user's newest request, if there is one. A line can name another."""
        draft, own = draft_of(session, RequestTerms()), await self._requests.list_own(session.user.id)
        method = await find_method(self._catalogue, own[0].method) if own else None
        if method is None:
            return draft
        return replace(draft, method=method, number=own[0].number, holder=own[0].holder, holder_asked=True)

    async def _list(self, session: Session, page: int = 0) -> None:
        own = await self._requests.list_own(session.user.id)
        tallies = await self._requests.tally(own) if own else {}
        payments = await self._requests.received(session.user.id, named=screens.NEWEST) if own else ()
        is_daily = gets_summary(session.user)
        listed = screens.show_list(session.reader, own, tallies, payments, page, is_daily=is_daily)
        await session.show(session.with_resume(listed))

    async def _send_file(self, session: Session, button: RequestsActionButton) -> None:
        """Send the payments as CSV. A second tap sends nothing."""
        if session.is_double_tap(button.pack()):
            return
        payments = await self._requests.received(session.user.id)
        caption = screens.show_file(session.t, len(payments))
        await self._send(session, screens.build_file(session.reader, payments), "kirim-payments.csv", caption)
        session.record_tap(button.pack())

    async def _send(self, session: Session, content: bytes, name: str, caption: Html) -> None:
        if not await session.send_file(content, name, caption):
            await session.explain("users.privacy.file_not_sent")

    async def _choose_summary(self, session: Session, button: RequestsActionButton) -> None:
        """Save whether the user gets one summary a day, or a message about each payment."""
        is_daily = button.action is RequestsAction.DAILY
        others = {
            key: value for key, value in (session.user.notification_preferences or {}).items() if key not in DAILY
        }
        chosen = {**others, **(DAILY if is_daily else {})} or None
        await session.save_user(replace(session.user, notification_preferences=chosen))
        session.notice = session.t(f"payment_requests.summary.{'on' if is_daily else 'off'}")
        await self._list(session)

    def _keep_card(self, session: Session) -> None:
        """Answer below a card, which stays: a picture has no text to replace."""
        if not session.has_text:
            session.message_id = None

    async def _show(self, session: Session, request: PaymentRequest, _: RequestButton) -> None:
        await self._show_page(session, request)

    async def _show_page(self, session: Session, request: PaymentRequest) -> None:
        bot = session.infra.messenger
        tally = (await self._requests.tally([request])).get(request.id, LinkTally())
        page = screens.show_request(
            session.reader, request, tally, bot.username, inline=bot.has_inline_mode, public_url=self._public_url
        )
        await session.show(session.with_resume(page))

    async def _show_changed(self, session: Session, request: PaymentRequest | None, said: str) -> None:
        if request is None:
            await self._explain_gone(session)
            return
        session.notice = session.t(said)
        await self._show_page(session, request)

    async def _explain_gone(self, session: Session) -> None:
        """Say that a request doesn't exist. Another user's request gets the same answer, so it stays secret."""
        await session.acknowledge(session.t.plain("payment_requests.gone"))
        session.notice = session.t("payment_requests.gone")
        await self._list(session)

    async def _send_card(self, session: Session, request: PaymentRequest, button: RequestButton) -> None:
        pressed = button.pack()
        if not session.is_double_tap(pressed):
            await self._requests.send_card(request, session.update_id)
            session.record_tap(pressed)

    async def _print(self, session: Session, request: PaymentRequest, button: RequestButton) -> None:
        """Send the card as a page for print."""
        pressed, width = button.pack(), screens.PAPERS.get(button.argument)
        if width is None or session.is_double_tap(pressed):
            return
        facts, paper = screens.build_facts(session.t, request, session.infra.messenger.username), f"A{button.argument}"
        if request.in_browsers and self._public_url:  # its page has both ways to pay
            facts = replace(facts, link=make_page_link(self._public_url, request.token))
        caption = session.t("payment_requests.print.caption", paper=paper)
        await self._send(session, await draw_for_print_off_loop(facts, width), f"kirim-{paper}.pdf", caption)
        session.record_tap(pressed)

    def _changing(self, change: Callable[[int, str], Awaitable[PaymentRequest | None]], said: str) -> _Action:
        """Return the action that changes a request and shows it, with what was changed."""

        async def act(session: Session, request: PaymentRequest, _: RequestButton) -> None:
            await self._show_changed(session, await change(session.user.id, request.id), said)

        return act

    async def _ask_close(self, session: Session, request: PaymentRequest, _: RequestButton) -> None:
        await session.show(screens.ask_close(session.t, request))

    async def _ask_browsers(self, session: Session, request: PaymentRequest, _: RequestButton) -> None:
        await session.show(screens.ask_browsers(session.t, request))

    async def _ask_note(self, session: Session, request: PaymentRequest, _: RequestButton) -> None:
        await questions.ask(session, NOTE, screens.ask_other_note(session.t, request), request.id)

    async def _remove_note(self, session: Session, request: PaymentRequest, _: RequestButton) -> None:
        changed = await self._requests.set_note(session.user, request.id, None)
        await self._show_changed(session, changed, "payment_requests.page.note_changed")

    async def _ask_end(self, session: Session, request: PaymentRequest, _: RequestButton) -> None:
        await questions.ask(session, END, screens.ask_other_end(session.t, request), request.id)

    async def _set_end(self, session: Session, request: PaymentRequest, button: RequestButton) -> None:
        try:
            ends_at = end_after(button.argument, session.now)
            changed = await self._requests.set_end(session.user, request.id, ends_at)
        except OutOfDate:
            await session.explain("users.stale.button")
        except TooManyRequests as reached:
            await session.show(screens.show_limit(session.t, session.format_rejection(reached)))
        else:
            await self._show_changed(session, changed, "payment_requests.page.end_changed")

    async def _ask_again(
        self, session: Session, request_id: str, rejection: Rejection, screen: Callable[..., Screen]
    ) -> None:
        """Show the reason, and ask again. The question is still open, so nothing is saved."""
        request = await self._requests.get_own(session.user.id, request_id)
        if request is None:
            await self._explain_gone(session)
            return
        session.notice = session.format_rejection(rejection)
        await session.show(screen(session.t, request))


_ReportAction = Callable[[Session, str], Awaitable[object]]


class ReportHandlers:
    """Let operators look at reported requests, and close them."""

    def __init__(self, *, reports: ReportService) -> None:
        self._reports = reports

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("reports", self.list_reports, menu={Menu.OPERATORS: 65})
        routes.add_button(ReportsButton, self.reports_button)
        actions: Mapping[ReportAction, _ReportAction] = {
            ReportAction.SHOW: self._show,
            ReportAction.ASK_CLOSE: self._ask_close,
            ReportAction.CLOSE: self._close,
            ReportAction.ASK_CLOSE_ALL: self._ask_close_all,
            ReportAction.CLOSE_ALL: self._close_all,
        }
        routes.add_actions(ReportedButton, self.reported_button, actions)
        return routes

    async def list_reports(self, session: Session, _: str) -> None:
        """Show the requests that were reported."""
        session.message_id = None
        await self._list(session)

    async def reports_button(self, session: Session, _: ReportsButton) -> None:
        """Show the requests that were reported."""
        await session.acknowledge()
        await self._list(session)

    async def reported_button(self, session: Session, button: ReportedButton, act: _ReportAction) -> None:
        """Do the action of a reported request's button."""
        await session.acknowledge()
        await act(session, button.request_id)

    async def _list(self, session: Session) -> None:
        await session.show(screens.show_reports(session.reader, await self._reports.list_reported()))

    async def _show(self, session: Session, request_id: str) -> None:
        found = await self._reports.look(session.user.id, request_id)
        if found is None:
            await self._explain_gone(session)
        else:
            await session.show(screens.show_reported(session.reader, *found))

    async def _ask_close(self, session: Session, request_id: str) -> None:
        await session.show(screens.ask_close_reported(session.t, request_id))

    async def _close(self, session: Session, request_id: str) -> None:
        if await self._reports.close(session.user.id, request_id) is None:
            await self._explain_gone(session)
            return
        session.notice = session.t("payment_requests.reports.closed")
        await self._list(session)

    async def _ask_close_all(self, session: Session, request_id: str) -> None:
        await session.show(screens.ask_close_all(session.t, request_id))

    async def _close_all(self, session: Session, request_id: str) -> None:
        closed = await self._reports.close(session.user.id, request_id, is_all=True)
        if closed is None:
            await self._explain_gone(session)
            return
        session.notice = session.t.plural("payment_requests.reports.closed_all", closed)
        await self._list(session)

    async def _explain_gone(self, session: Session) -> None:
        session.notice = session.t("payment_requests.gone")
        await self._list(session)
