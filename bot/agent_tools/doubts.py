"""Orders that may have been made without anybody knowing: the same wish isn't sent again before somebody looked.

The service has no idempotency keys (settlement API, 4.5), and agents like to call again. So a wish is remembered before
it is sent, and forgotten only when its outcome is known; an answer that never came, a caller that hung up and a second
call beside the first are all the same case. Kept in memory: this server keeps no database.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from bot.settlement import OrderInput, SettlementError

REMEMBERED = 1000


class Doubtful(Exception):
    """The same wish is under way, or its outcome is unknown; `is_under_way` tells which."""

    def __init__(self, *, is_under_way: bool) -> None:
        super().__init__("under way" if is_under_way else "outcome unknown")
        self.is_under_way = is_under_way


class Doubts:
    """The wishes that must not be sent (again) just now."""

    def __init__(self) -> None:
        self._under_way: set[OrderInput] = set()
        self._unknown: dict[OrderInput, None] = {}

    @contextmanager
    def sending(self, wish: OrderInput) -> Iterator[None]:
        """Send `wish` within the block. Raises `Doubtful` for one that may exist already."""
        if wish in self._under_way or wish in self._unknown:
            raise Doubtful(is_under_way=wish in self._under_way)
        self._under_way.add(wish)
        known = False
        try:
            yield
            known = True
        except SettlementError as error:
            known = not error.outcome_unknown
            raise
        finally:
            self._under_way.discard(wish)
            if not known:
                self._remember(wish)

    def looked(self) -> None:
        """Somebody has looked at the list of orders: what to do is theirs to decide now."""
        self._unknown.clear()

    def _remember(self, wish: OrderInput) -> None:
        if len(self._unknown) >= REMEMBERED:
            del self._unknown[next(iter(self._unknown))]
        self._unknown[wish] = None
