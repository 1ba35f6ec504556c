"""Saved recipients in `/privacy`. Numbers are masked, since others may see the chat."""

from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import count_rows
from bot.recipients.model import SavedRecipient
from bot.recipients.repository import RecipientRepository
from bot.recipients.screens import masked_line
from bot.recipients.tables import recipients
from bot.users.user_data import MAX_LISTED, StoredData, UserData


def stored_recipients(first: tuple[SavedRecipient, ...], count: int) -> StoredData:
    """Return the number of recipients, and the first ones."""
    return StoredData(
        key="recipients.privacy.recipients",
        count=count,
        first=first,
        format_line=lambda _, each: masked_line(each),
        is_shown_empty=True,
    )


async def stored(tx: Transaction, user_id: int) -> StoredData:
    """Return the recipients that a user has saved."""
    first = await RecipientRepository(tx).find_by_user(user_id, limit=MAX_LISTED)
    return stored_recipients(first, await count_rows(tx, recipients, user_id))


USER_DATA = UserData(stored=stored)
