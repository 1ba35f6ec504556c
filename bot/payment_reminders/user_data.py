"""Payment reminders in `/privacy`."""

from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import count_rows
from bot.payment_reminders.tables import payment_reminders
from bot.users.user_data import StoredData, UserData


async def stored(tx: Transaction, user_id: int) -> StoredData:
    """Return how many reminders a user has."""
    return StoredData(key="payment_reminders.privacy.reminders", count=await count_rows(tx, payment_reminders, user_id))


USER_DATA = UserData(stored=stored)
