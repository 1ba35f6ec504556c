"""Figures, for operators: `/stats`, `/export`, and the buttons under them.

Whoever isn't one meets what an unknown command or an old button gives.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from typing import Final

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
async def show_statistics(visit: Session, _: str) -> None:
    """Show the bot's own statistics at once, and the service's as soon as it has answered."""
    await visit.post(await _own(visit, FIRST_SHOWN))
    told = await visit.desk.figures.service()
    await visit.post(platform.screen(visit.t, told, visit.zone))


@routes.command("export")
async def export_orders(visit: Session, typed: str) -> None:
    """Send the orders of the period behind the command; ask for the period where there is none."""
    visit.message_id = None
    typed = " ".join(typed.split())
    span = spans.typed(typed, _today(visit), visit.zone)
    if span is not None:
        await _hand_out(visit, span)
    else:
        if typed:
            visit.notice = visit.t("export.unclear")
        await questions.ask(visit, TIME, export.asking(visit.t))


@routes.button(StatisticsButton)
async def statistics_button(visit: Session, button: StatisticsButton) -> None:
    """Do what a button under the statistics says."""
    if not await ACTIONS[button.action](visit, button.period):
        await visit.explain("stale.button")


async def time_typed(visit: Session, _: str, text: str) -> None:
    """The time whose orders are wanted; asked again as long as it can't be read."""
    if not visit.is_operator:
        await _forget_question(visit)
        await visit.show(visit.with_resume(await start.show(visit)))
        return
    span = spans.typed(text, _today(visit), visit.zone)
    if span is None:
        visit.notice = visit.t("export.unclear")
        await visit.show(export.asking(visit.t))
        return
    await _forget_question(visit)
    await _hand_out(visit, span)


async def _show(visit: Session, argument: str) -> bool:
    if argument not in set(Period):
        return False
    await visit.acknowledge()
    await visit.update(await _own(visit, Period(argument)))
    return True


async def _ask(visit: Session, _: str) -> bool:
    await visit.acknowledge()
    visit.message_id = None
    await questions.ask(visit, TIME, export.asking(visit.t))
    return True


async def _file(visit: Session, argument: str) -> bool:
    find = export.TIMES.get(argument)
    if find is None:
        return False
    desk, button = visit.desk, StatisticsButton(StatisticsAction.CSV, argument).pack()
    await visit.acknowledge()
    if not desk.second_taps.is_second(visit.chat_id, button, desk.clock.now()):
        visit.message_id = None
        await _hand_out(visit, find(desk.clock.now(), visit.zone))
        desk.second_taps.answered(visit.chat_id, button, desk.clock.now())
    return True


async def _own(visit: Session, period: Period) -> Screen:
    span, own = await visit.desk.figures.own(period, visit.zone)
    picture = await render_bars_off_loop(figures.bars(visit.t, period, span, own.orders, visit.zone))
    return figures.screen(visit.t, period, visit.t.date_time(span.since, visit.zone), own, picture)


async def _hand_out(visit: Session, span: Span) -> None:
    made = await visit.desk.figures.export(span, visit.person.id)
    if made.content is None:
        await visit.show(export.nothing(visit.t, made, span, visit.zone))
        return
    sent = await visit.desk.messenger.send_document(
        visit.chat_id,
        made.content,
        export.file_name(span, visit.zone),
        export.caption(visit.t, made, span, visit.zone),
        lane="talk",
    )
    if not isinstance(sent, Delivered):
        await visit.say(Screen(visit.t("export.not_sent"), export.again_row(visit.t)))


async def _forget_question(visit: Session) -> None:
    async with visit.desk.store.transaction() as tx:
        await UserRepository(tx).save(questions.answered(visit))


def _today(visit: Session) -> date:
    return visit.desk.clock.now().astimezone(visit.zone).date()


ACTIONS: Mapping[StatisticsAction, Callable[[Session, str], Awaitable[bool]]] = {
    StatisticsAction.SHOW: _show,
    StatisticsAction.EXPORT: _ask,
    StatisticsAction.CSV: _file,
}
"""What a button does; whether there was such a thing."""
