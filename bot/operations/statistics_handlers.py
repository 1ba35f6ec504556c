"""Handlers of `/stats`, `/export` and their buttons, for operators.

Other users get the same answer as for an unknown command or an old button.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from typing import Final

from bot.core import csv
from bot.core import date_ranges as spans
from bot.core.date_ranges import Period, Span
from bot.infra.drawing.off_loop import render_chart_off_loop
from bot.infra.telegram.ui.router import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.operations.buttons import StatisticsAction, StatisticsButton
from bot.operations.screens import platform as platform_screens
from bot.operations.screens import statistics as screens
from bot.operations.statistics_service import StatisticsService
from bot.users import questions
from bot.users.session import Session
from bot.users.welcome import make_welcome

EXPORT_PERIOD: Final = "export"
"""The question for the period of a file."""

DEFAULT_PERIOD: Final = Period.WEEK

_Action = Callable[[Session, str], Awaitable[bool]]
"""Returns False if the button is out of date."""


class StatisticsHandlers:
    """Show operators the statistics, and send them orders as a file."""

    def __init__(self, statistics: StatisticsService) -> None:
        self._statistics = statistics

    def routes(self) -> Routes[Session]:
        """Return the commands and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("stats", self.show_statistics, menu={Menu.OPERATORS: 40})
        routes.add_command("export", self.export_orders, menu={Menu.OPERATORS: 50})
        actions: Mapping[StatisticsAction, _Action] = {
            StatisticsAction.SHOW: self._show_period,
            StatisticsAction.EXPORT: self._ask_span,
            StatisticsAction.CSV: self._send_named_span,
        }
        routes.add_actions(StatisticsButton, self.statistics_button, actions)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of each question's typed answer."""
        return {EXPORT_PERIOD: questions.accept_text(self.send_typed_period)}

    async def show_statistics(self, session: Session, _: str) -> None:
        """Show the bot's own statistics, then the service's when it has answered."""
        await session.send_message(await self._build_screen(session, DEFAULT_PERIOD))
        service = await self._statistics.load_service_statistics()
        await session.send_message(platform_screens.show_service_statistics(session.t, service, session.zone))

    async def export_orders(self, session: Session, typed: str) -> None:
        """Send the orders of the period that was typed after the command. Ask for a period if there is none."""
        session.message_id = None
        typed = " ".join(typed.split())
        span = spans.parse_span(typed, _today(session), session.zone)
        if span is not None:
            await self._send_file(session, span)
        else:
            if typed:
                session.notice = session.t("staff.export.unclear")
            await questions.ask(session, EXPORT_PERIOD, screens.ask_period(session.t))

    async def statistics_button(self, session: Session, button: StatisticsButton, act: _Action) -> None:
        """Run the action of a button under the statistics."""
        if not await act(session, button.period):
            await session.explain("users.stale.button")

    async def send_typed_period(self, session: Session, _: str, text: str) -> None:
        """Send the orders of the typed period. Ask again if it can't be read."""
        if not session.is_operator:
            await session.save_user(questions.mark_answered(session))
            await session.show(session.with_resume(await make_welcome(session)))
            return
        span = spans.parse_span(text, _today(session), session.zone)
        if span is None:
            session.notice = session.t("staff.export.unclear")
            await session.show(screens.ask_period(session.t))
            return
        await session.save_user(questions.mark_answered(session))
        await self._send_file(session, span)

    async def _show_period(self, session: Session, argument: str) -> bool:
        if argument not in set(Period):
            return False
        await session.acknowledge()
        await session.edit_message(await self._build_screen(session, Period(argument)))
        return True

    async def _ask_span(self, session: Session, _: str) -> bool:
        await session.acknowledge()
        session.message_id = None
        await questions.ask(session, EXPORT_PERIOD, screens.ask_period(session.t))
        return True

    async def _send_named_span(self, session: Session, argument: str) -> bool:
        find_span = spans.NAMED_SPANS.get(argument)
        if find_span is None:
            return False
        pressed = StatisticsButton(StatisticsAction.CSV, argument).pack()
        await session.acknowledge()
        if not session.is_double_tap(pressed):
            session.message_id = None
            await self._send_file(session, find_span(session.now, session.zone))
            session.record_tap(pressed)
        return True

    async def _build_screen(self, session: Session, period: Period) -> Screen:
        span, own = await self._statistics.count_bot_statistics(period, session.zone)
        picture = await render_chart_off_loop(screens.build_chart(session.t, period, span, own.orders, session.zone))
        return screens.show_statistics(session.t, period, session.t.date_time(span.since, session.zone), own, picture)

    async def _send_file(self, session: Session, span: Span) -> None:
        file = await self._statistics.export_orders(span, session.user.id)
        if file.content is None:
            await session.show(screens.explain_no_file(session.t, file, span, session.zone))
            return
        name = csv.build_file_name("orders", span, session.zone)
        caption = screens.format_caption(session.t, file, span, session.zone)
        if not await session.send_file(file.content, name, caption):
            await session.show_below(screens.explain_not_sent(session.t))


def _today(session: Session) -> date:
    return session.now.astimezone(session.zone).date()
