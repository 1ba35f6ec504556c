"""The buttons of the operators' list of destinations."""

from dataclasses import dataclass
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern


@dataclass(frozen=True)
class DestinationsButton(Callback, prefix="dn"):
    """A button to a page of the list, counted from 0."""

    page: Annotated[str, Pattern("[0-9]{1,3}")] = "0"
