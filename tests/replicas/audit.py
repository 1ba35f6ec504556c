"""The auditor: compares what users saw, what the service got, and what the database has with what Kirim promises."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.e2e.faults import count_posts
from tests.replicas.cluster import Cluster
from tests.replicas.history import CHAT, History, LeaseChange, owners_of
from tests.replicas.journeys import Journey, Seen, check_chat
from tests.replicas.relay import Call
from tests.replicas.replica import Replica

ON_THE_WAY = timedelta(seconds=0.25)
"""How long a call may be on its way to Telegram. A call that was made in time can arrive after the lease's end."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What happened until the bot was idle: the history of leases and work, and the calls of each replica."""

    history: History
    calls: Mapping[Replica, Sequence[Call]]

    def owners(self) -> dict[int, str]:
        """Return which owner each backend served."""
        return owners_of(self.history.changes, [start for replica in self.calls for start in replica.starts])


@dataclass
class Audit:
    """What was counted, and each promise that was broken."""

    recorded: Recorded
    orders: int = 0
    posts: int = 0
    posted_twice: int = 0
    wrong_conversations: int = 0
    notifications: Counter[str] = field(default_factory=Counter)
    repeated_questions: int = 0
    broken: list[str] = field(default_factory=list)


async def audit(cluster: Cluster, journeys: Sequence[Journey]) -> Audit:
    """Wait until the bot is idle, and return what these users, the service and the database say."""
    await cluster.becomes_idle()
    # Read first: the checks below can block the servers and relays of this program for longer than a lease.
    recorded = Recorded(await cluster.history(), {each: tuple(each.telegram.calls) for each in cluster.replicas})
    found = Audit(recorded, posts=await count_posts(cluster.system))
    for journey in journeys:
        _add(found, journey, await check_chat(journey, cluster.record))
    (counts,) = await cluster.query(
        "SELECT count(*) AS orders, count(*) FILTER (WHERE service_id IS NOT NULL) AS placed FROM orders"
    )
    found.orders = counts["placed"]
    if found.posts > counts["orders"]:
        found.broken.append(f"{found.posts} requests that create orders, for {counts['orders']} intents")
    unplaced = await cluster.query(
        "SELECT reference, phase FROM orders WHERE phase IN ('intended', 'unknown', 'unresolved')"
    )
    found.broken += [f"order {row['reference']} is still {row['phase']}" for row in unplaced]
    found.posted_twice = await _count_posted_twice(cluster, journeys)
    if found.posted_twice:
        found.broken.append(f"{found.posted_twice} orders were posted twice")
    found.broken += recorded.history.find_broken_promises(recorded.owners())
    found.broken += find_calls_without_lease(recorded, frozenset(journey.chat.id for journey in journeys))
    return found


def _add(found: Audit, journey: Journey, seen: Seen) -> None:
    found.wrong_conversations += bool(seen.problems)
    found.broken += [f"chat {journey.chat.id}: {problem}" for problem in seen.problems]
    found.repeated_questions += seen.repeated_questions
    for count in seen.notifications.values():
        found.notifications["once"] += count == 1
        found.notifications["several times"] += count > 1
    found.notifications["copies without a mark"] += len(seen.unmarked_copies)
    found.broken += [f"chat {journey.chat.id}: a copy without a mark: {copy}" for copy in seen.unmarked_copies]


async def _count_posted_twice(cluster: Cluster, journeys: Sequence[Journey]) -> int:
    made = Counter(order["payoutRecipient"] for order in await cluster.system.service.orders())
    return sum(max(0, made[journey.sender.number] - journey.confirmations) for journey in journeys)


def find_calls_without_lease(recorded: Recorded, chats: frozenset[int]) -> list[str]:
    """Return each call to one of these chats that a replica made while another one, or none, had the chat."""
    owners, held_by = recorded.owners(), Owners(recorded.history)
    found: list[str] = []
    for replica, calls in recorded.calls.items():
        own = {owners[backend] for start in replica.starts for backend in start if backend in owners}
        for call in calls:
            if call.chat_id in chats and not held_by.has_any(call, own):
                at = datetime.fromtimestamp(call.at, UTC)
                found.append(f"{replica.name} called {call.method} in chat {call.chat_id} at {at:%H:%M:%S.%f}")
    return found


class Owners:
    """Who had which chat when."""

    def __init__(self, recorded: History) -> None:
        self._changes: dict[int, list[LeaseChange]] = recorded.changes_of(CHAT)
        self._times = {chat_id: [each.at for each in changes] for chat_id, changes in self._changes.items()}

    def has_any(self, call: Call, owners: set[str]) -> bool:
        """Return whether one of the owners held the chat when the call arrived, or shortly before."""
        at = datetime.fromtimestamp(call.at, UTC)
        times = self._times.get(call.chat_id, [])
        first, last = bisect_right(times, at - ON_THE_WAY), bisect_right(times, at)
        changes = self._changes.get(call.chat_id, [])
        return any(change.owner in owners for change in changes[max(0, first - 1) : last])
