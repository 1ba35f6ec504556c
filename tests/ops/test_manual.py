"""Numbers of several replicas in docs/setup.md are those of the code."""

import re
from dataclasses import fields
from datetime import timedelta

from bot.infra.db.engine import POSTGRESQL_CONNECTIONS
from bot.infra.db.postgresql import MAX_CLOCK_OFFSET_SECONDS, OLDEST_VERSION
from bot.infra.leases.leader import LOOK_SECONDS
from bot.infra.leases.repository import LEASE_SECONDS
from bot.orders.rules import OrderRules
from tests.architecture.documents import part, rows

DEFAULT_MAX_CONNECTIONS, RESERVED, FOR_COMMANDS = 100, 3, 10
NEEDS = dict(rows("postgresql-needs"))


def test_the_manual_says_what_the_start_checks() -> None:
    assert f"PostgreSQL {OLDEST_VERSION} or newer" in NEEDS["version"]
    assert f"by no more than {MAX_CLOCK_OFFSET_SECONDS:.0f} seconds" in NEEDS["clocks"]


def test_the_manual_counts_the_connections_of_a_replica() -> None:
    total, pool, leases, wakeups = map(int, re.findall(r"\d+", NEEDS["connections"]))
    assert (pool, leases, wakeups) == (POSTGRESQL_CONNECTIONS, 1, 1)
    assert total == pool + leases + wakeups
    (replicas,) = re.findall(r"That is enough for (\d+) replicas", part("postgresql-notes"))
    assert int(replicas) == (DEFAULT_MAX_CONNECTIONS - RESERVED - FOR_COMMANDS) // total


def test_the_manual_says_how_long_a_failover_takes() -> None:
    text = " ".join(part("failover").split())
    assert f"A lease ends after {LEASE_SECONDS:.0f} seconds" in text
    assert LOOK_SECONDS <= 1
    assert f"Within {LEASE_SECONDS + 1:.0f} seconds" in text
    (longest_placement,) = (field.default for field in fields(OrderRules) if field.name == "longest_placement")
    assert isinstance(longest_placement, timedelta)
    assert f"After {longest_placement.total_seconds():.0f} seconds the leader searches" in text
