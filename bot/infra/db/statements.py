"""SQLAlchemy's statements for SQLite's drivers. Each statement is compiled once.

SQLAlchemy's own execution takes several times as long as SQLite itself. Here its compiler writes the SQL, its types
convert each value on the way in and out, and the rows are its rows.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from sqlalchemy import Executable
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import IteratorResult
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.exc import StatementError
from sqlalchemy.sql.selectable import ReturnsRows

if TYPE_CHECKING:
    from sqlalchemy.sql.compiler import SQLCompiler
    from sqlalchemy.sql.elements import ClauseElement

DIALECT: Final = sqlite.dialect()

MAX_STATEMENTS: Final = 500
"""How many compiled statements are kept. The bot has far fewer."""

Values = Mapping[str, Any]
Converters = Mapping[Any, Callable[[Any], Any]]


class SQLiteResult(IteratorResult[*tuple[Any, ...]]):
    """The rows of a statement, and how many rows it has changed."""

    def __init__(self, metadata: SimpleResultMetaData, rows: Iterator[tuple[Any, ...]], rowcount: int) -> None:
        super().__init__(metadata, rows)
        self.rowcount = rowcount


class CompiledStatement:
    """A statement as SQL, with the types of its parameters and columns.

    Args:
        statement: the statement.
        names: the names of its parameters. An INSERT or UPDATE without values sets the columns with these names.
    """

    def __init__(self, statement: Executable, names: tuple[str, ...]) -> None:
        compiled = cast("ClauseElement", statement).compile(dialect=DIALECT, column_keys=list(names))
        columns = list(statement.exported_columns) if isinstance(statement, ReturnsRows) else []
        self._compiled = cast("SQLCompiler", compiled)
        self._has_lists = any(each.expanding for each in self._compiled.binds.values())
        self._to_store = _without_none(
            (name, each.type.dialect_impl(DIALECT).bind_processor(DIALECT))
            for name, each in self._compiled.binds.items()
        )
        self._to_read = _without_none(
            (place, column.type.dialect_impl(DIALECT).result_processor(DIALECT, None))
            for place, column in enumerate(columns)
        )
        self.returns_rows = bool(columns)
        # SQLite names the columns as they are named in the SQL. Without a row, only their number matters.
        self._no_rows = SimpleResultMetaData([str(place) for place in range(len(columns))])
        self._metadata: SimpleResultMetaData | None = None

    def bind(self, values: Values) -> tuple[str, list[Any]]:
        """Return the SQL and its parameters for the driver. Each element of a list is a parameter of its own.

        Raises:
            StatementError: a value isn't one of its column's type.
        """
        if not self._has_lists:
            parameters = self._compiled.construct_params(values)
            return self._compiled.string, self._convert(parameters, self._compiled.positiontup, self._to_store)
        state = self._compiled.construct_expanded_state(values)
        to_store = {**self._to_store, **state.processors}
        return state.statement, self._convert(state.parameters, state.positiontup, to_store)

    def _convert(self, parameters: Values, names: Sequence[str] | None, converters: Converters) -> list[Any]:
        try:
            return [
                converters[name](parameters[name]) if name in converters else parameters[name] for name in names or ()
            ]
        except (TypeError, ValueError) as error:
            raise StatementError(str(error), self._compiled.string, None, error, hide_parameters=True) from error

    def read(self, rows: Sequence[sqlite3.Row], rowcount: int = -1) -> SQLiteResult:
        """Return the driver's rows as SQLAlchemy's, with their values converted."""
        if rows and self._metadata is None:
            self._metadata = SimpleResultMetaData(rows[0].keys())
        return SQLiteResult(self._metadata or self._no_rows, map(self._read_row, rows), rowcount)

    def _read_row(self, row: sqlite3.Row) -> tuple[Any, ...]:
        values = list(row)
        for place, convert in self._to_read.items():
            values[place] = convert(values[place])
        return tuple(values)


@lru_cache(MAX_STATEMENTS)
def compile_statement(statement: Executable, names: tuple[str, ...]) -> CompiledStatement:
    """Return the compiled statement. Only the same object is found again, so frequent statements are constants."""
    return CompiledStatement(statement, names)


def _without_none(converters: Iterable[tuple[Any, Callable[[Any], Any] | None]]) -> Converters:
    return {key: convert for key, convert in converters if convert is not None}
