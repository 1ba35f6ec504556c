"""All tables. Importing this module adds every table to the metadata, for the migrations and for key rotation."""

from importlib import import_module
from pathlib import Path
from typing import Final

from bot.infra.db.columns import IS_COMPLETE, metadata

__all__ = ["metadata"]

BOT: Final = Path(__file__).parent

# A module with tables is called `tables` or `…_tables`, so that a feature needs no entry here. Migrations have numbers.
for path in sorted(BOT.rglob("*tables.py")):
    if path.parent != BOT and not path.name[0].isdigit():
        import_module(".".join((__package__, *path.relative_to(BOT).with_suffix("").parts)))

metadata.info[IS_COMPLETE] = True
