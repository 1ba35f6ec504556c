"""What follows when a notification was sent or given up, where several features have something to do then."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import Notification, Sent, Undeliverable

K = TypeVar("K", bound=str)


def chain(*features: Mapping[K, After]) -> dict[K, After]:
    """Return for each kind of notification what all features do then, in their order."""
    kinds = {kind for feature in features for kind in feature}
    return {kind: _in_turn([feature[kind] for feature in features if kind in feature]) for kind in kinds}


def _in_turn(steps: Sequence[After]) -> After:
    if len(steps) == 1:
        return steps[0]

    async def follow(
        tx: Transaction, notification: Notification[object], how: Sent | Undeliverable, now: datetime
    ) -> None:
        for step in steps:
            await step(tx, notification, how, now)

    return follow
