"""The reader of a screen: language, time zone and current time."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui import formatting


@dataclass(frozen=True, slots=True)
class Reader:
    """The language, time zone and current time (in UTC) of the user who reads a screen."""

    t: Translator
    zone: tzinfo
    now: datetime

    def format_clock(self, moment: datetime) -> Html:
        """Return a time of day in the reader's zone as `formatting.format_clock` does."""
        return formatting.format_clock(self.t, moment, self.zone)

    def format_time(self, moment: datetime, *, round_up: bool = True) -> str:
        """Return a time in the reader's zone as `formatting.format_time` does."""
        return formatting.format_time(self.t, moment, self.now, self.zone, round_up=round_up)

    def format_day(self, moment: datetime) -> str:
        """Return a day in the reader's zone as `formatting.format_day` does."""
        return formatting.format_day(self.t, moment, self.now, self.zone)
