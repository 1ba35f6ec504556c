"""Buttons of the statistics and of the reconciliation."""

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


class ReconciliationAction(StrEnum):
    """What a button of the reconciliation does."""

    REFRESH = "again"
    BOOKS = "books"
    CSV = "csv"
    BACK = "back"


@dataclass(frozen=True)
class ReconciliationButton(Callback, prefix="rc"):
    """A button of the reconciliation. `period` is one of `BOOK_SPANS` for a file of the books."""

    action: ReconciliationAction
    period: Annotated[str, Pattern("[a-z_]{1,12}")] = ""
