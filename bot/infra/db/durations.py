"""How long it is from one instant to another, exactly, on both databases."""

from typing import Any

from sqlalchemy import BigInteger
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction

from bot.infra.db.columns import POSTGRESQL


class microseconds(GenericFunction[int]):  # noqa: N801  named as functions of SQL are
    """From the first instant to the second, in whole microseconds; negative where the second was earlier."""

    type = BigInteger()
    inherit_cache = True


@compiles(microseconds, POSTGRESQL)
def _on_postgresql(element: microseconds, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    begun, ended = (compiler.process(clause, **options) for clause in element.clauses)
    return f"CAST(extract(epoch FROM {ended} - {begun}) * 1000000 AS BIGINT)"


@compiles(microseconds, "sqlite")
def _on_sqlite(element: microseconds, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401  SQLAlchemy's
    begun, ended = (_of_text(compiler.process(clause, **options)) for clause in element.clauses)
    return f"({ended} - {begun})"


def _of_text(instant: str) -> str:
    # The text's last six digits are its microseconds (`columns.Instant`); as a Julian day they would be rounded.
    return f"(strftime('%s', {instant}) * 1000000 + substr({instant}, 21))"
