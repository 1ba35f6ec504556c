"""The database's own clock in statements. Leases go by it, because the clocks of several machines differ."""

from typing import Any

from sqlalchemy import BigInteger
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction

from bot.infra.db.columns import POSTGRESQL, Instant


class db_time_in(GenericFunction[Any]):  # noqa: N801  named as functions of SQL are
    """The time of the database's clock in so many seconds."""

    type = Instant()
    inherit_cache = True


class db_microseconds(GenericFunction[int]):  # noqa: N801  likewise
    """The microseconds since 1970 by the database's clock."""

    type = BigInteger()
    inherit_cache = True


@compiles(db_time_in, POSTGRESQL)
def _time_on_postgresql(element: db_time_in, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    (seconds,) = (compiler.process(clause, **options) for clause in element.clauses)
    return f"(clock_timestamp() + make_interval(secs => {seconds}))"


@compiles(db_time_in, "sqlite")
def _time_on_sqlite(element: db_time_in, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    (seconds,) = (compiler.process(clause, **options) for clause in element.clauses)
    # The same text as `Instant`, which has microseconds.
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now', {seconds} || ' seconds') || '000')"


@compiles(db_microseconds, POSTGRESQL)
def _microseconds_on_postgresql(_element: db_microseconds, _compiler: SQLCompiler, **_options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"


@compiles(db_microseconds, "sqlite")
def _microseconds_on_sqlite(_element: db_microseconds, _compiler: SQLCompiler, **_options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    return "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
