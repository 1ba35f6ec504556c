"""All metrics of the bot: their names, that users add no series, and what the gauges are read from."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
