"""Helpers for stories of a user's own data."""

import sqlite3
from contextlib import closing

from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.system import System
from tests.texts import label, like
from tests.waiting import TIMEOUT_SECONDS, found


def rows_of(shared_system: System, user: ChatUser) -> dict[str, list[sqlite3.Row]]:
    """Return the rows of a user by table, without tables that have none."""
    where = {
        "users": "id",
        "recipients": "user_id",
        "drafts": "user_id",
        "orders": "user_id",
        "outbox": "chat_id",
        "inbox": "chat_id",
    }
    with closing(sqlite3.connect(shared_system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        rows = {
            table: database.execute(f"SELECT * FROM {table} WHERE {column} = ?", (user.id,)).fetchall()  # noqa: S608
            for table, column in where.items()
        }
    return {table: kept for table, kept in rows.items() if kept}


async def becomes_unknown(shared_system: System, user: ChatUser) -> None:
    """Wait until no row leads to the user. The row of the last update is deleted after two days."""

    async def rows() -> dict[str, list[sqlite3.Row]]:
        return rows_of(shared_system, user)

    left = await found(rows, lambda kept: kept.keys() <= {"inbox"}, what="the end of their rows")
    assert all(row[2] == "" or "person" not in row[2] for row in left.get("inbox", []))


async def asks_to_be_deleted(user: ChatUser) -> Json:
    """Go from the command to the confirmation."""
    await user.says("/privacy")
    await user.sees(like("users.privacy.text"))
    await user.taps(label("users.privacy.delete"))
    return await user.sees(like("users.privacy.confirm"))
