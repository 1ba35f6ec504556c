"""What a writer counts on is said by the bot itself, whatever the server's own default is."""

from sqlalchemy import text

from bot.infra.db.database import Database


async def test_postgresql_writes_in_read_committed_and_to_the_disk(store: Database) -> None:
    if store._writer.dialect.name != "postgresql":
        return
    async with store._writer.connect() as connection:
        found = [
            (await connection.execute(text(f"SHOW {name}"))).scalar_one()
            for name in ("transaction_isolation", "synchronous_commit")
        ]
    assert found == ["read committed", "on"]
