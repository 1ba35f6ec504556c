"""The settings of users."""

from dataclasses import dataclass

from bot.users.provider import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRules:
    """Who runs the bot, and how long users' data is kept."""

    provider: Provider
    operator_ids: frozenset[int]
    retention_days: int
    """Days to keep personal data after its last use. 0 means forever."""
