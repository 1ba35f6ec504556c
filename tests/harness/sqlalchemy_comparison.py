"""Compare SQLite's own execution of statements (`infra/db/statements.py`) with SQLAlchemy's, while tests run.

Each statement must have the same SQL and parameters, and each read the same rows. So the tests of repositories prove it
for every statement that they execute, and no list has to name them.

A process compares a statement once for each combination of types: of its parameters, and of the values in the rows that
it finds. What is converted, and how, depends on nothing else.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, Executable, StaticPool, create_engine, event

from bot.infra.db.connection import Values
from bot.infra.db.sqlite import Reader, SQLiteConnection
from bot.infra.db.statements import compile_statement

CLOCK = "'now'"
"""In statements that read the clock. Two executions give different times."""


_compared = set[Any]()
"""What this process has compared: SQL with the types of its parameters, or with those of its rows."""


class Prepared(Exception):
    """SQLAlchemy has prepared a statement, which isn't executed."""


class _Shared:
    """A driver's connection in the middle of a transaction, which SQLAlchemy must not end."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def rollback(self) -> None:
        """Do nothing."""


class SQLAlchemyExecution:
    """SQLAlchemy's own execution on a connection of the driver. Without one, it only prepares statements."""

    def __init__(self, raw: sqlite3.Connection | None = None) -> None:
        self._raw = raw
        self._prepared: tuple[str, list[list[Any]]] = ("", [])
        self._engine = create_engine(
            "sqlite://", poolclass=StaticPool, **({} if raw is None else {"creator": lambda: _Shared(raw)})
        )
        event.listen(self._engine, "before_cursor_execute", self._note)

    def prepare(self, statement: Executable, parameters: Values | None) -> tuple[str, list[list[Any]]]:
        """Return the SQL, and each set of parameters."""
        with self._engine.connect() as connection, pytest.raises(Prepared):
            connection.execute(statement, parameters)
        return self._prepared

    def read(self, statement: Executable, parameters: Values | None) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the names of the columns, and the rows."""
        assert self._raw is not None
        kept, self._raw.row_factory = self._raw.row_factory, None
        try:
            with self._engine.connect() as connection:
                result = connection.execute(statement, parameters)
                return list(result.keys()), [tuple(row) for row in result]
        finally:
            self._raw.row_factory = kept

    def _note(self, _c: Connection, _cursor: object, sql: str, values: Any, _context: object, is_many: bool) -> None:  # noqa: FBT001  SQLAlchemy's
        self._prepared = (sql, [list(each) for each in (values if is_many else [values])])
        if self._raw is None:
            raise Prepared


@pytest.fixture
def compared_with_sqlalchemy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare each statement of the test that is executed on SQLite."""
    execute = SQLiteConnection.execute
    preparing, reading = SQLAlchemyExecution(), dict[Reader, SQLAlchemyExecution]()

    async def compare(self: SQLiteConnection, statement: Executable, parameters: Values | None = None) -> Any:
        sets = _list_sets(parameters)
        compiled = compile_statement(statement, tuple(sets[0]))
        sql = compiled._compiled.string
        key: object = (sql, *(_find_types(compiled._compiled.construct_params(each).values()) for each in sets))
        if key not in _compared:
            if not (compiled.returns_rows and len(sets) > 1):  # SQLAlchemy makes one INSERT of many
                bound = [compiled.bind(each) for each in sets]
                assert (bound[0][0], [values for _, values in bound]) == preparing.prepare(statement, parameters)
            _compared.add(key)
        result = await execute(self, statement, parameters)
        if not isinstance(self, Reader) or CLOCK in sql:
            return result
        kept = result.freeze()
        found = [tuple(row) for row in kept()]
        key = (sql, "rows", frozenset(map(_find_types, found)))
        if key not in _compared:
            if self not in reading:
                reading[self] = SQLAlchemyExecution(self._raw)
            names, rows = reading[self].read(statement, parameters)
            assert [_with_types(row) for row in found] == [_with_types(row) for row in rows]
            assert not rows or list(kept().keys()) == names
            _compared.add(key)
        return kept()

    monkeypatch.setattr(SQLiteConnection, "execute", compare)


def _list_sets(parameters: Values | None) -> Sequence[Mapping[str, Any]]:
    return [parameters or {}] if isinstance(parameters, Mapping | None) else parameters


def _find_types(values: Iterable[Any]) -> tuple[object, ...]:
    """Return the types of these values, and of what is in lists."""
    return tuple((len(each) > 1, *map(type, each)) if isinstance(each, list | tuple) else type(each) for each in values)


def _with_types(row: Sequence[Any]) -> list[tuple[type, Any]]:
    return [(type(value), value) for value in row]
