"""The floor of an order: python-telegram-bot, the Bot API's calls and SQLite's commits, and nothing else.

`python -m tests.benchmarks.bare_order ADDRESS FILE WRITES READS` answers six updates of each chat with the calls of a
guided order (docs/benchmarks.md lists them), and spreads that many transactions over them. It knows no banks, checks
nothing, and draws nothing: its pictures are bytes. So no bot that does the same for its users costs less with these
libraries.
"""

import asyncio
import itertools
import signal
import sqlite3
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import aiosqlite
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, Update
from telegram.ext import Application, ContextTypes, TypeHandler

from tests.benchmarks import skeleton

KEYBOARD: Final = InlineKeyboardMarkup([[InlineKeyboardButton(text, callback_data=text) for text in ("Yes", "No")]] * 2)
TEXT: Final = "<b>Check this order</b>\n\nRp500,000 to BCA 1234567890\nfor 31,250 sats. The fee is in this price.\n" * 2
QR_CODE: Final = bytes(4_000)
RECEIPT: Final = bytes(40_000)
WARM_UP: Final = 2

Call = Callable[[Bot, int], Awaitable[object]]


def _send(bot: Bot, chat: int) -> Awaitable[object]:
    return bot.send_message(chat, TEXT, parse_mode="HTML", reply_markup=KEYBOARD)


def _edit(bot: Bot, chat: int) -> Awaitable[object]:
    return bot.edit_message_text(TEXT, chat, 1, parse_mode="HTML", reply_markup=KEYBOARD)


def _press(bot: Bot, _chat: int) -> Awaitable[object]:
    return bot.answer_callback_query("1")


def _send_qr_code(bot: Bot, chat: int) -> Awaitable[object]:
    return bot.send_photo(chat, QR_CODE, TEXT, parse_mode="HTML", reply_markup=KEYBOARD)


def _delete(bot: Bot, chat: int) -> Awaitable[object]:
    return bot.delete_message(chat, 1)


def _send_receipt(bot: Bot, chat: int) -> Awaitable[object]:
    return bot.send_photo(chat, RECEIPT, TEXT, parse_mode="HTML")


ANSWERS: Final[Sequence[Sequence[Call]]] = (
    (_send,),
    (_send, _delete),
    (_send, _delete),
    (_press, _edit),
    (_send, _delete),
    (_press, _edit, _send_qr_code, _edit, _send, _delete, _edit, _edit, _edit, _send_receipt),
)
"""The calls after each update of an order: its questions, its review, and all that follows the confirmation."""

CALLS: Final = sum(map(len, ANSWERS))
PHOTOS: Final = 2


class Database:
    """Writes as the bot does, by aiosqlite, and reads in place."""

    def __init__(self, writer: aiosqlite.Connection, reader: sqlite3.Connection) -> None:
        self._writer, self._reader = writer, reader

    async def write(self, chat: int) -> None:
        """Commit one change of a row."""
        await self._writer.execute("BEGIN IMMEDIATE")
        await self._writer.execute(
            "INSERT INTO rows VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET content = excluded.content", (chat, TEXT)
        )
        await self._writer.commit()

    def read(self, chat: int) -> None:
        """Read a row by its key."""
        self._reader.execute("SELECT content FROM rows WHERE id = ?", (chat,)).fetchall()


@asynccontextmanager
async def opened(path: str) -> AsyncIterator[Database]:
    """Open a new database with the bot's settings."""
    async with aiosqlite.connect(path, isolation_level=None) as writer:
        await writer.execute("PRAGMA journal_mode=WAL")
        await writer.execute("PRAGMA synchronous=FULL")
        await writer.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, content TEXT)")
        reader = sqlite3.connect(path, isolation_level=None)
        try:
            yield Database(writer, reader)
        finally:
            reader.close()


def list_updates(orders: int, *, first_chat: int) -> list[dict[str, Any]]:
    """Return the updates of `orders` orders, each in a chat of its own. Update ids count on from the chat."""
    found = []
    for chat in range(first_chat, first_chat + orders):
        for step in range(len(ANSWERS)):
            number = (chat - 1) * len(ANSWERS) + step + 1
            update = skeleton.update(number, chat, "500rb")
            if _press in ANSWERS[step]:
                shown = update.pop("message")
                update["callback_query"] = {
                    "id": "1", "from": shown["from"], "message": shown, "chat_instance": "1", "data": "Yes"
                }  # fmt: skip
            found.append(update)
    return found


async def main(address: str, path: str, writes: str, reads: str) -> None:
    """Answer updates until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    # The nth call of an order is preceded by the transactions up to this share of all.
    shares = [(round(float(writes) * n / CALLS), round(float(reads) * n / CALLS)) for n in range(CALLS + 1)]
    costs = [(after[0] - before[0], after[1] - before[1]) for before, after in itertools.pairwise(shares)]
    steps: dict[int, int] = defaultdict(int)
    async with opened(path) as database:

        async def answer(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
            chat = update.effective_chat.id if update.effective_chat else 0
            step, steps[chat] = steps[chat], steps[chat] + 1
            first = sum(map(len, ANSWERS[:step]))
            for call, (new_writes, new_reads) in zip(ANSWERS[step], costs[first:], strict=False):
                for _ in range(new_reads):
                    database.read(chat)
                for _ in range(new_writes):
                    await database.write(chat)
                await call(context.bot, chat)

        application = Application.builder().token(skeleton.TOKEN).base_url(f"{address}/bot").build()
        application.add_handler(TypeHandler(Update, answer))
        async with application:
            await application.start()
            assert application.updater is not None
            await application.updater.start_polling()
            await stop.wait()
            await application.updater.stop()
            await application.stop()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
