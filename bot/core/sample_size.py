"""Which records the typical times shown to customers are measured from, and how many are needed."""

from datetime import timedelta
from typing import Final

SAMPLE_PERIOD: Final = timedelta(days=30)
"""Only records created this recently are measured."""

MIN_SAMPLES: Final = 20
"""With fewer records, nothing is shown."""
