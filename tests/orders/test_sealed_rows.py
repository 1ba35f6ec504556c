"""The database alone reveals no bank account, and sealed values can be read only in their own rows."""

import pytest
from sqlalchemy import text

from bot.checkout.repository import DraftRepository
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.orders.evidence import Evidence
from bot.orders.receipts.codes import Receipt
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.repository import OrderRepository
from bot.recipients.model import SavedRecipient
from bot.recipients.repository import RecipientRepository
from bot.staff.model import AuditAction, AuditEntry
from bot.staff.repository import AuditRepository
from bot.support.repository import TicketEntryRepository, TicketRepository
from tests.checkout.builders import a_draft
from tests.infra.builders import an_update
from tests.infra.keys import KEY
from tests.infra.on_disk import find_texts, list_database_files, read_all_values
from tests.orders.builders import an_order
from tests.settlement.builders import BCA
from tests.support.builders import a_ticket, an_entry
from tests.times import NOW

SECRETS = (
    *("8620123456", "8620100000", "8620100001", "8620100002", "8620100003"),
    "SARI DEWI",
    "the account 8620100000 is closed",
    "pesan rahasia",
    "Ibu Kost Melati",
    "CODE-1234-XYZ",
    "uang saya hilang",
    "AgAC-slip",
    "bank minta nama",
    "WARUNG SARI",
)


async def keep_all(store: Database) -> None:
    """Save a value in every sealed column."""
    async with store.transaction() as tx:
        await OrderRepository(tx).add(
            an_order(
                refusal="the account 8620100000 is closed", evidence=(Evidence("merchant_name", "WARUNG SARI", NOW),)
            )
        )
        await DraftRepository(tx).add(a_draft(number="8620100001", doubtful_number="8620100002", holder="SARI DEWI"))
        await InboxRepository(tx).add([an_update(7, body='{"text": "pesan rahasia"}')])
        await RecipientRepository(tx).save(
            SavedRecipient(
                id="r1",
                user_id=1001,
                method=BCA,
                number="8620100003",
                holder="SARI DEWI",
                label="Ibu Kost Melati",
                created_at=NOW,
                last_used_at=NOW,
            )
        )
        await TicketRepository(tx).add(a_ticket())
        await TicketEntryRepository(tx).add(an_entry(text="uang saya hilang", file_id="AgAC-slip"))
        await AuditRepository(tx).add(
            AuditEntry(at=NOW, actor_id=3001, action=AuditAction.REVEALED, subject="order:R1", detail="bank minta nama")
        )
        await ReceiptRepository(tx).add(
            Receipt(reference="R2345AB", code="CODE-1234-XYZ", code_hash="ab" * 32, created_at=NOW)
        )


async def test_whatever_is_written_is_sealed_in_the_rows_and_in_the_files(store: Database, database: str) -> None:
    await keep_all(store)
    written = "\n".join(await read_all_values(database))
    assert [secret for secret in SECRETS if secret in written] == []
    if database.startswith("sqlite"):
        assert len(list_database_files(database)) > 1
        assert find_texts(database, SECRETS) == {}
        assert not any(KEY[:16] in file.read_bytes() for file in list_database_files(database)), (
            "the key stands in no file"
        )


async def test_a_row_moved_into_another_ones_place_isnt_read(store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R1", number="1111111111"))
        await OrderRepository(tx).add(an_order("R2", number="2222222222"))
    async with store._writer.begin() as connection:
        await connection.execute(
            text("UPDATE orders SET number = (SELECT number FROM orders WHERE reference = 'R2') WHERE reference = 'R1'")
        )
    async with store.reading() as tx:
        with pytest.raises(StoreDown, match="changed or moved"):
            await OrderRepository(tx).get("R1")
        assert (await OrderRepository(tx).get("R2")).number == "2222222222"  # type: ignore[union-attr]


async def test_a_number_put_in_readable_isnt_taken_for_one_of_ours(store: Database) -> None:
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R1"))
    async with store._writer.begin() as connection:
        await connection.execute(text("UPDATE orders SET number = '9999999999'"))
    async with store.reading() as tx:
        with pytest.raises(StoreDown):
            await OrderRepository(tx).get("R1")
