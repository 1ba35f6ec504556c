"""What the process knows about itself, for the pages by which others watch it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class ProcessState:
    """The state of this process. `bot/process.py` changes it."""

    are_workers_alive: Callable[[], bool] = lambda: False
    """Returns whether every worker runs. On SQLite they start when no other process has the database."""

    are_leases_kept: Callable[[], bool] = lambda: False
    """Returns whether the leases of chats were kept in time."""

    can_write: bool = True
    """Whether PostgreSQL took the last write that this process tried."""

    is_stopping: bool = False
    """Whether the process was asked to stop, and only finishes its work."""
