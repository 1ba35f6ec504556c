"""Change saved replies. The audit log records each change."""

from dataclasses import replace

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.support.saved_replies.model import MAX_COUNT, SavedReply
from bot.support.saved_replies.repository import SavedReplyRepository
from bot.users.model import User
from bot.users.repository import UserRepository


class SavedReplyService:
    """Read and change saved replies. The caller has checked that `by` is a support agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def all(self) -> tuple[SavedReply, ...]:
        """Return all saved replies, by name."""
        async with self._database.reading() as tx:
            return await SavedReplyRepository(tx).all()

    async def get(self, name: str) -> SavedReply | None:
        """Return the saved reply with this name."""
        async with self._database.reading() as tx:
            return await SavedReplyRepository(tx).get(name)

    async def check_can_add(self, name: str) -> None:
        """Check that a saved reply with this name can be added.

        Raises:
            Rejection: the name is taken, or there are `MAX_COUNT` saved replies.
        """
        kept = {reply.name for reply in await self.all()}
        if name in kept:
            raise Rejection("support.saved_reply.exists", name=name)
        if len(kept) >= MAX_COUNT:
            raise Rejection("support.saved_reply.too_many", most=MAX_COUNT)

    async def write(self, name: str, locale: str, text: str, by: User) -> SavedReply:
        """Save a text in one language, with the user who typed it, so that the answer isn't taken twice."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            before = await SavedReplyRepository(tx).get(name)
            known = before or SavedReply(name=name, texts={}, updated_at=now, updated_by=by.id)
            reply = replace(known, texts={**known.texts, locale: text}, updated_at=now, updated_by=by.id)
            await SavedReplyRepository(tx).save(reply)
            detail = locale if before else "added"
            await record_audit(tx, by.id, AuditAction.CHANGED, audit_subject(name), now, detail=detail)
            await UserRepository(tx).save(by)
        return reply

    async def delete(self, name: str, by: int) -> bool:
        """Delete a saved reply, and return whether it existed."""
        async with self._database.transaction() as tx:
            deleted = await SavedReplyRepository(tx).delete(name)
            if deleted:
                now = self._clock.now()
                await record_audit(tx, by, AuditAction.CHANGED, audit_subject(name), now, detail="deleted")
        return deleted


def audit_subject(name: str) -> str:
    """Return the subject of a saved reply in the audit log."""
    return f"answer:{name}"
