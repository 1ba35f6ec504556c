"""People who have left something in every table, and the search for what leads to them."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from bot.actions.ports import Broadcast, OrderEvent, Person, RateAlert, Receipt, Recipient, Subscription
from bot.domain.draft import DraftStatus
from bot.domain.order import Deposit, Order, Phase
from bot.store import SqlStore
from bot.store.tables import metadata
from tests.contract.store_builders import BCA, NOW, a_draft, an_order, an_update, some_news

DAY = timedelta(days=1)
EMMA, SARI = 1001, 1002
DONE = {"phase": Phase.DONE, "state": "COMPLETED", "ended_at": NOW, "paid_at": NOW}


def a_person(person_id: int = EMMA, **changes: object) -> Person:
    return Person(id=person_id, created_at=NOW, language_code="en", **changes)  # type: ignore[arg-type]


def a_recipient(recipient_id: str, person_id: int = EMMA, **changes: object) -> Recipient:
    known = {"method": BCA, "number": "7731004455", "holder": "SARI DEWI", "created_at": NOW, "used_at": NOW}
    return Recipient(id=recipient_id, person_id=person_id, **{**known, **changes})  # type: ignore[arg-type]


async def live(store: SqlStore, person_id: int, n: int = 0) -> Order:
    """A person who has left something in every table; their sent order."""
    deposit = Deposit("cbbtc", 8453, "Base", "cbBTC", "0xcb", "0xto", 8)
    order = an_order(
        f"R{person_id}N{n}",
        person_id=person_id,
        chat_id=person_id,
        number="7731004455",
        service_id=f"cm{person_id}.{n}",
        bolt11="lnbc1kopi",
        deposit=deposit,
        refusal="no 7731004455",
        page_token=f"t{person_id}.{n}",
        **DONE,
    )
    async with store.transaction() as tx:
        await tx.people.save(a_person(person_id, phrase="MANGO LAUT", locale="id"))
        await tx.recipients.save(a_recipient(f"r{person_id}.{n}", person_id, label="Ibu Kost"))
        await tx.subscriptions.save(Subscription(person_id=person_id, since=NOW))
        await tx.subscriptions.save_alert(
            RateAlert(
                id=f"alert {person_id}.{n}",
                person_id=person_id,
                is_above=True,
                threshold=Decimal(10**9),
                created_at=NOW,
                expires_at=NOW + DAY,
            )
        )
        broadcast = Broadcast(id=f"b{person_id}.{n}", operator_id=2001, created_at=NOW)
        await tx.broadcasts.add(broadcast)
        await tx.deliveries.snapshot(broadcast, "en", NOW)
        await tx.orders.add(order)
        await tx.orders.add_event(OrderEvent(reference=order.reference, at=NOW, phase=Phase.DONE, state="COMPLETED"))
        await tx.receipts.add(
            Receipt(reference=order.reference, code=f"CODE-{person_id}", code_hash=f"{person_id}.{n}", created_at=NOW)
        )
        placed = a_draft(f"d{person_id}.{n}", chat_id=person_id, person_id=person_id, number="7731004455")
        await tx.drafts.add(replace(placed, status=DraftStatus.PLACED))
        await tx.outbox.add([some_news(f"order:{order.reference}", chat_id=person_id)])
        for news in await tx.outbox.heads(NOW):
            await tx.outbox.told(news.id, 5, NOW)
        update = person_id * 10 + n
        await tx.inbox.add([an_update(update, chat_id=person_id)])
        await tx.inbox.finish([update], NOW)
    return order


async def rows_that_name(store: SqlStore, person_id: int) -> list[str]:
    """The tables in which a person's id stands in any column."""
    found = []
    async with store._reader.connect() as connection:
        for name, table in metadata.tables.items():
            rows = (await connection.execute(table.select())).all()
            if any(str(value) in {str(person_id), f"person:{person_id}"} for row in rows for value in row):
                found.append(name)
    return found
