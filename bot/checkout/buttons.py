"""Buttons on the screens of an order that is being put together."""

from dataclasses import dataclass

from bot.infra.telegram.ui.callbacks import Callback


@dataclass(frozen=True)
class LightningButton(Callback, prefix="lightning"):
    """The button under the first review that explains what Lightning is."""
