"""The settings of staff."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffRules:
    """Who the staff are, and how users and alarms reach them."""

    operator_ids: frozenset[int] = frozenset()
    agent_ids: frozenset[int] = frozenset()
    """The support agents, or the operators if there are none."""

    chat_id: int = 0
    """The group where support agents work; 0 if each works in their private chat."""

    contact: str = ""
    """An address outside the bot to which users can write; empty for none."""

    service_contact: str = ""
    """Where operators reach the settlement service; empty for unknown."""

    failed_payout_policy_url: str = ""
    """Where users can read what happens after a failed payout; empty for none."""

    remind_after: timedelta = timedelta(hours=1)
    """The time after which operators are reminded of an alarm."""
