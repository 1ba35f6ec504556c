"""The settings of support."""

from dataclasses import dataclass
from datetime import timedelta

from bot.users.provider import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportRules:
    """The settings of support."""

    provider: Provider
    """Who runs the bot."""

    operator_ids: frozenset[int]
    """The operators. They are reminded if support doesn't reply after its reminder."""

    reopen_within: timedelta
    """How long after a ticket was closed its user can reopen it."""

    remind_after: timedelta
    """How long a ticket waits for a reply before support is reminded."""
