"""The fence of a lease: work that lost its lease meanwhile can't commit.

A process can freeze in the middle of its work, or lose its connection, and go on after another process has taken the
work over. So each transaction that writes checks, as its last statement, that the lease is still the one under which
the work began. The row of the lease stays locked until the commit, so nobody can take it in between.
"""

from contextvars import Context, ContextVar, copy_context
from typing import Any, Protocol


class LeaseLost(Exception):
    """This process no longer holds the lease of its work. The transaction was rolled back. Another process goes on."""


class Fence(Protocol):
    """What must still be true when a transaction commits or a message is sent."""

    @property
    def is_held(self) -> bool:
        """Whether the lease is held, as far as this process knows."""
        ...

    async def check(self, tx: Any) -> None:  # noqa: ANN401  `Transaction` has the vault, which raises `LeaseLost`
        """Lock the lease's row until the end of the transaction. Raises `LeaseLost`."""
        ...


FENCE: ContextVar[Fence | None] = ContextVar("fence", default=None)
"""The lease of the current work. None for work that needs none, such as saving what the service has answered."""


SAVES_ANSWER: ContextVar[bool] = ContextVar("saves_answer", default=False)
"""Whether the current work saves what the service has answered. It is the last that a replaced process may write."""


def is_lease_held() -> bool:
    """Return whether the current work may still act: it needs no lease, or holds it."""
    fence = FENCE.get()
    return fence is None or fence.is_held


def without_lease(*, saves_answer: bool = False) -> Context:
    """Return a copy of the current context without a lease, for work that must be saved whoever has the chat now."""
    context = copy_context()
    context.run(FENCE.set, None)
    context.run(SAVES_ANSWER.set, saves_answer)
    return context
