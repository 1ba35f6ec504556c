"""The bot of any commit, with its transactions counted: `python counted_bot.py run`.

It runs by its path, with the commit's folder in PYTHONPATH. So it imports nothing else of the benchmarks. The file in
TRANSACTIONS_FILE has two numbers of eight bytes, in the order of `COUNTED`, which change while the bot runs.
"""

import mmap
import os
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

FILE = "TRANSACTIONS_FILE"
NUMBERS = struct.Struct("<2Q")
COUNTED = ("transaction", "reading")
"""The methods of `Database` that open a transaction: those that write, and those that only read."""

Open = Callable[[Any], AbstractAsyncContextManager[Any]]


def _count_transactions(database: type, path: Path) -> None:
    path.write_bytes(bytes(NUMBERS.size))
    with path.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), NUMBERS.size)
    counts = [0] * len(COUNTED)

    def count(place: int, open_transaction: Open) -> Open:
        @asynccontextmanager
        async def opened(self: object) -> AsyncIterator[Any]:
            counts[place] += 1
            NUMBERS.pack_into(memory, 0, *counts)
            async with open_transaction(self) as tx:
                yield tx

        return opened

    for place, name in enumerate(COUNTED):
        setattr(database, name, count(place, getattr(database, name)))


if __name__ == "__main__":
    from bot import __main__
    from bot.infra.db.database import Database

    _count_transactions(Database, Path(os.environ[FILE]))
    __main__.cli()
