"""Buttons of the statistics."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class StatisticsAction(StrEnum):
    """What a button of the statistics does."""

    SHOW = "show"
    EXPORT = "export"
    CSV = "csv"


@dataclass(frozen=True)
class StatisticsButton(Callback, prefix="st"):
    """A button of the statistics. `period` is a `Period`, or one of `NAMED_SPANS` for a file."""

    action: StatisticsAction
    period: Annotated[str, Pattern("[a-z_]{1,12}")] = ""
