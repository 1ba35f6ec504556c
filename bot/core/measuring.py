"""Which records the times that customers read are measured from, and how many of them are enough."""

from datetime import timedelta
from typing import Final

MEASURED_OVER: Final = timedelta(days=30)
"""Only records that were created this recently are measured."""

LEAST_MEASURED: Final = 20
"""Fewer show nothing, so then nothing is said."""
