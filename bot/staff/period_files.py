"""A file about a period, such as the orders of a month: operators choose the period, and get the file or the reason."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Protocol

from bot.core import csv
from bot.core.csv import CsvFile
from bot.core.date_ranges import NAMED_SPANS, Span, parse_span
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.callbacks import Callback
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.users.session import Session


class FileScreens(Protocol):
    """The module of the screens about a file."""

    def format_caption(self, reader: Reader, file: CsvFile, span: Span, /) -> Html:
        """Return what the file has."""

    def explain_no_file(self, reader: Reader, file: CsvFile, span: Span, /) -> Screen:
        """Say why there is no file."""

    def explain_not_sent(self, t: Translator, /) -> Screen:
        """Say that Telegram didn't accept it."""


@dataclass(frozen=True, slots=True)
class PeriodFile:
    """A file that operators can get of each period.

    Attributes:
        name: the beginning of the file's name.
        export: returns the file of a period for the operator with this id.
        screens: the screens about it.
        zone: the zone of its days. None is the operator's own.
    """

    name: str
    export: Callable[[Span, int], Awaitable[CsvFile]]
    screens: FileScreens
    zone: tzinfo | None = None

    def parse(self, session: Session, typed: str) -> Span | None:
        """Return the period that was typed, or None."""
        zone = self.zone or session.zone
        return parse_span(" ".join(typed.split()), session.now.astimezone(zone).date(), zone)

    async def send_named(self, session: Session, pressed: Callback, period: str) -> bool:
        """Send the file of a period of `NAMED_SPANS`. A second tap sends nothing. Return False for any other name."""
        find_span = NAMED_SPANS.get(period)
        if find_span is None:
            return False
        await session.acknowledge()
        if not session.is_double_tap(pressed.pack()):
            await self.send(session, find_span(session.now, self.zone or session.zone))
            session.record_tap(pressed.pack())
        return True

    async def send(self, session: Session, span: Span) -> None:
        """Send the file of a period, or say why there is none."""
        reader = session.reader if self.zone is None else replace(session.reader, zone=self.zone)
        file = await self.export(span, session.user.id)
        if file.content is None:
            await session.show(self.screens.explain_no_file(reader, file, span))
            return
        name, caption = (
            csv.build_file_name(self.name, span, reader.zone),
            self.screens.format_caption(reader, file, span),
        )
        if not await session.send_file(file.content, name, caption):
            await session.show_below(self.screens.explain_not_sent(session.t))
