"""Show, export, delete and prune saved recipients as a user's data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator
from bot.recipients.model import SavedRecipient
from bot.recipients.repository import RecipientRepository
from bot.recipients.screens import masked_line
from bot.recipients.tables import recipients
from bot.settlement.model import PayoutMethod
from bot.users.user_data import MAX_LISTED, JsonObject, Rows, StoredData, UserData, count_rows, format_time, list_first


@dataclass(frozen=True, slots=True)
class StoredRecipients(StoredData):
    """A user's saved recipients in `/privacy`. Numbers are masked, since others may see the chat."""

    first: tuple[SavedRecipient, ...]
    count: int

    def records(self, t: Translator) -> Sequence[str]:
        """Return the number of recipients, and the first ones."""
        lines = [f"• {masked_line(each)}" for each in self.first]
        return ("\n".join([self._count(t), *list_first(lines, self.count)]),)

    def counts(self, t: Translator) -> Mapping[str, Html]:
        """Return the number of recipients."""
        return {"recipients": self._count(t)}

    def _count(self, t: Translator) -> Html:
        return t.plural("recipients.privacy.recipients", self.count)


async def stored(tx: Transaction, user_id: int) -> StoredRecipients:
    """Return the recipients that a user has saved."""
    first = await RecipientRepository(tx).find_by_user(user_id, limit=MAX_LISTED)
    return StoredRecipients(first, await count_rows(tx, recipients, user_id))


async def export(tx: Transaction, user_id: int, limit: int, offset: int) -> Sequence[JsonObject]:
    """Return saved recipients for the exported file."""
    found = await RecipientRepository(tx).find_by_user(user_id, limit=limit, offset=offset)
    return [export_recipient(each) for each in found]


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """Delete the recipients that the user has saved."""
    await tx.connection.execute(delete(recipients).where(recipients.c.user_id == user_id))


async def prune(tx: Transaction, now: datetime, kept: timedelta | None, _limit: int) -> int:
    """Delete recipients that were last used too long ago, without a limit."""
    return 0 if kept is None else await RecipientRepository(tx).delete_unused(now - kept)


def method_json(method: PayoutMethod) -> JsonObject:
    """Return a destination for the exported file."""
    return {"code": method.code, "name": method.name, "kind": method.kind}


def export_recipient(recipient: SavedRecipient) -> JsonObject:
    """Return a saved recipient for the exported file."""
    return {
        "name_given": recipient.label,
        "destination": method_json(recipient.method),
        "number": recipient.number,
        "holder": recipient.holder,
        "first_used_at": format_time(recipient.created_at),
        "last_used_at": format_time(recipient.last_used_at),
    }


USER_DATA = UserData(
    feature="recipients",
    rows={"recipients": Rows(recipients, export)},
    stored=stored,
    delete_user=delete_user,
    prune=prune,
)
