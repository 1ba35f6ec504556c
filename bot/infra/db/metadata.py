"""The metadata of all tables, with the names of their indexes and constraints."""

from typing import Final

from sqlalchemy import MetaData

IS_COMPLETE: Final = "is_complete"
"""Set in the metadata's `info` once every feature's tables are in it (`bot/tables.py`)."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
