"""What features do when a notification was sent or given up, or when its chat moved or can't be reached."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification, Sent, Undeliverable

FinalResult = Sent | Undeliverable
"""How a notification ended."""

FollowUp = Callable[[Transaction, Notification[Any], FinalResult, datetime], Awaitable[None]]
"""Called in the transaction that saves that a notification was sent or given up. The last argument is the time."""

OnChatUnreachable = Callable[[Transaction, int, datetime], Awaitable[None]]
"""Called when a chat can't be reached, with the chat's id and the time."""

OnChatMoved = Callable[[Transaction, int, int], Awaitable[None]]
"""Called when a chat got another id, with the old id and the new one."""

K = TypeVar("K", bound=str)


def chain_follow_ups(*features: Mapping[K, FollowUp]) -> dict[K, FollowUp]:
    """Return for each kind of notification one follow-up that calls those of all features, in their order."""
    kinds = {kind for feature in features for kind in feature}
    return {kind: _call_in_order([feature[kind] for feature in features if kind in feature]) for kind in kinds}


def _call_in_order(steps: Sequence[FollowUp]) -> FollowUp:
    if len(steps) == 1:
        return steps[0]

    async def follow_up(
        tx: Transaction, notification: Notification[object], result: FinalResult, now: datetime
    ) -> None:
        for step in steps:
            await step(tx, notification, result, now)

    return follow_up
