"""Figures, for operators: `/stats`, `/export`, and the buttons under them.

Whoever isn't one meets what an unknown command or an old button gives.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from typing import Final

from bot.core import csv
from bot.core import date_ranges as spans
from bot.core.date_ranges import Period, Span
from bot.infra.drawing.chart import render_bars_off_loop
from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.router import Audience, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.operations.buttons import StatisticsAction, StatisticsButton
from bot.operations.screens import export, platform
from bot.operations.screens import statistics as figures
from bot.users.repository import UserRepository
from bot.users.screens import start

TIME: Final = "export"
FIRST_SHOWN: Final = Period.WEEK


routes = Routes[Session](Audience.OPERATORS)


@routes.command("stats")
async def show_statistics(session: Session, _: str) -> None:
    """Show the bot's own statistics at once, and the service's as soon as it has answered."""
    await session.post(await _own(session, FIRST_SHOWN))
    told = await session.desk.figures.service()
    await session.post(platform.screen(session.t, told, session.zone))


@routes.command("export")
async def export_orders(session: Session, typed: str) -> None:
    """Send the orders of the period behind the command; ask for the period where there is none."""
    session.message_id = None
    typed = " ".join(typed.split())
    span = spans.typed(typed, _today(session), session.zone)
    if span is not None:
        await _hand_out(session, span)
    else:
        if typed:
            session.notice = session.t("export.unclear")
        await questions.ask(session, TIME, export.asking(session.t))


@routes.button(StatisticsButton)
async def statistics_button(session: Session, button: StatisticsButton) -> None:
    """Do what a button under the statistics says."""
    if not await ACTIONS[button.action](session, button.period):
        await session.explain("stale.button")


async def time_typed(session: Session, _: str, text: str) -> None:
    """The time whose orders are wanted; asked again as long as it can't be read."""
    if not session.is_operator:
        await _forget_question(session)
        await session.show(session.with_resume(await start.show(session)))
        return
    span = spans.typed(text, _today(session), session.zone)
    if span is None:
        session.notice = session.t("export.unclear")
        await session.show(export.asking(session.t))
        return
    await _forget_question(session)
    await _hand_out(session, span)


async def _show(session: Session, argument: str) -> bool:
    if argument not in set(Period):
        return False
    await session.acknowledge()
    await session.update(await _own(session, Period(argument)))
    return True


async def _ask(session: Session, _: str) -> bool:
    await session.acknowledge()
    session.message_id = None
    await questions.ask(session, TIME, export.asking(session.t))
    return True


async def _file(session: Session, argument: str) -> bool:
    find = spans.NAMED_SPANS.get(argument)
    if find is None:
        return False
    desk, button = session.desk, StatisticsButton(StatisticsAction.CSV, argument).pack()
    await session.acknowledge()
    if not desk.second_taps.is_second(session.chat_id, button, desk.clock.now()):
        session.message_id = None
        await _hand_out(session, find(desk.clock.now(), session.zone))
        desk.second_taps.answered(session.chat_id, button, desk.clock.now())
    return True


async def _own(session: Session, period: Period) -> Screen:
    span, own = await session.desk.figures.own(period, session.zone)
    picture = await render_bars_off_loop(figures.bars(session.t, period, span, own.orders, session.zone))
    return figures.screen(session.t, period, session.t.date_time(span.since, session.zone), own, picture)


async def _hand_out(session: Session, span: Span) -> None:
    made = await session.desk.figures.export(span, session.person.id)
    if made.content is None:
        await session.show(export.nothing(session.t, made, span, session.zone))
        return
    sent = await session.desk.messenger.send_document(
        session.chat_id,
        made.content,
        csv.file_name("orders", span, session.zone),
        export.caption(session.t, made, span, session.zone),
        lane="talk",
    )
    if not isinstance(sent, Delivered):
        await session.say(Screen(session.t("export.not_sent"), export.again_row(session.t)))


async def _forget_question(session: Session) -> None:
    async with session.desk.store.transaction() as tx:
        await UserRepository(tx).save(questions.answered(session))


def _today(session: Session) -> date:
    return session.desk.clock.now().astimezone(session.zone).date()


ACTIONS: Mapping[StatisticsAction, Callable[[Session, str], Awaitable[bool]]] = {
    StatisticsAction.SHOW: _show,
    StatisticsAction.EXPORT: _ask,
    StatisticsAction.CSV: _file,
}
"""What a button does; whether there was such a thing."""
