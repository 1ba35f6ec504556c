"""How SQLAlchemy executes statements: with one cache of the compiled ones for each kind of database."""

from collections.abc import Callable
from types import CodeType
from typing import Any, Final, TypeVar

from sqlalchemy import Compiled
from sqlalchemy.util import LRUCache

Statement = TypeVar("Statement")

MAX_STATEMENTS: Final = 500
"""How many compiled statements are cached for each kind of database. The bot has far fewer."""


class StatementCache(LRUCache[Any, Compiled]):
    """A cache of compiled statements for all engines on one kind of database.

    SQLAlchemy's own cache key contains the engine's dialect object, so each engine would compile the same statements.
    All engines on one kind of database compile alike, so this cache leaves that part out.
    """

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:  # noqa: ANN401  as in the class above
        """Return the compiled statement of any engine."""
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Compiled) -> None:
        """Save a compiled statement for all engines."""
        super().__setitem__(key[1:], compiled)


# SQLAlchemy prepares each result for being asked with the columns of its own statement. That takes as long as building
# the statement, and we ask by names.
_BY_NAMES: Final = {"_result_disable_adapt_to_context": True}
SQLITE_OPTIONS: Final = {"compiled_cache": StatementCache(MAX_STATEMENTS), **_BY_NAMES}
POSTGRESQL_OPTIONS: Final = {"compiled_cache": StatementCache(MAX_STATEMENTS), **_BY_NAMES}


_BUILT: dict[CodeType, Any] = {}


def once(build: Callable[[], Statement]) -> Statement:
    """Return the statement that a lambda builds: at its second call, the same one.

    Building a statement takes two to five times as long as executing it. So the most frequent ones are built once,
    where they stand. What changes is a parameter of the statement.

    Raises:
        ValueError: the lambda uses a variable of its function, which would keep its first value.
    """
    if build.__closure__ is not None:
        raise ValueError("a statement that is built once takes its values as parameters")
    if build.__code__ not in _BUILT:
        _BUILT[build.__code__] = build()
    found: Statement = _BUILT[build.__code__]
    return found
