"""Answers that support keeps to use them again, in both languages; each change is written down."""

from dataclasses import replace

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.support.saved_replies.model import MOST, SavedReply
from bot.support.saved_replies.repository import SavedReplyRepository
from bot.users.model import Person
from bot.users.repository import UserRepository


class SavedReplies:
    """Whoever calls has seen that `by` is one of the supporters."""

    def __init__(self, store: Database, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def all(self) -> tuple[SavedReply, ...]:
        """By name."""
        async with self._store.reading() as tx:
            return await SavedReplyRepository(tx).all()

    async def get(self, name: str) -> SavedReply | None:
        """The one of this name."""
        async with self._store.reading() as tx:
            return await SavedReplyRepository(tx).get(name)

    async def check_new(self, name: str) -> None:
        """Raise `Rejection` where there is one of this name, or are as many as are kept."""
        kept = {answer.name for answer in await self.all()}
        if name in kept:
            raise Rejection("answers.exists", name=name)
        if len(kept) >= MOST:
            raise Rejection("answers.too_many", most=MOST)

    async def write(self, name: str, locale: str, text: str, by: Person) -> SavedReply:
        """Keep its text in one language, with whoever has typed it: so it isn't taken in twice."""
        now = self._clock.now()
        async with self._store.transaction() as tx:
            before = await SavedReplyRepository(tx).get(name)
            known = before or SavedReply(name=name, texts={}, updated_at=now, updated_by=by.id)
            answer = replace(known, texts={**known.texts, locale: text}, updated_at=now, updated_by=by.id)
            await SavedReplyRepository(tx).save(answer)
            detail = locale if before else "added"
            await record_audit(tx, by.id, AuditAction.CHANGED, subject_of(name), now, detail=detail)
            await UserRepository(tx).save(by)
        return answer

    async def delete(self, name: str, by: int) -> bool:
        """Whether there was one."""
        async with self._store.transaction() as tx:
            deleted = await SavedReplyRepository(tx).delete(name)
            if deleted:
                now = self._clock.now()
                await record_audit(tx, by, AuditAction.CHANGED, subject_of(name), now, detail="deleted")
        return deleted


def subject_of(name: str) -> str:
    """What it is called in the audit trail."""
    return f"answer:{name}"
