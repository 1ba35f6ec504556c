"""Expire drafts that are idle for too long, and show orders again when the service can be reached."""

from collections.abc import Mapping
from typing import Final

from bot.checkout.draft import DraftStatus
from bot.checkout.handlers import DraftHandlers
from bot.checkout.service import DraftService
from bot.core.backoff import Backoff
from bot.infra.telegram.inbound.repository import Inbox, InboxItem, JobHandler
from bot.infra.workers import run_each
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import SettlementFailure
from bot.users.session import SessionLoader

EVERY_SECONDS: Final = 5.0
WHILE_DOWN: Final = Backoff(first=EVERY_SECONDS, longest=20.0)
"""Seconds until the service is asked again for drafts that wait for it."""

EXPIRE: Final = "expire-draft"
"""The job that expires a draft. Its argument is the draft's id."""

SHOW_AGAIN: Final = "show-draft-again"
"""The job that shows a draft after an outage. Its argument is the draft's id."""


class DraftWorkers:
    """Expire drafts, and show those again that wait for the service, each between the updates of its chat.

    Which drafts wait is in their rows, so it survives a restart. Nothing is ever ordered here.
    """

    def __init__(
        self,
        drafts: DraftService,
        catalogue: ServiceCatalogue,
        sessions: SessionLoader,
        draft_handlers: DraftHandlers,
        inbox: Inbox,
    ) -> None:
        self._drafts = drafts
        self._catalogue = catalogue
        self._sessions = sessions
        self._draft_handlers = draft_handlers
        self._inbox = inbox
        self._failures = 0

    def jobs(self) -> Mapping[str, JobHandler]:
        """Return what each job does."""
        return {EXPIRE: self._expire, SHOW_AGAIN: self._show_again}

    async def expire_idle(self) -> float:
        """Add a job for each idle draft, and return the seconds until the next time."""
        idle = await self._drafts.expired()
        await run_each("draft-expiry", idle, lambda draft: self._inbox.add_job(draft.chat_id, EXPIRE, draft.id))
        return EVERY_SECONDS

    async def show_waiting(self) -> float:
        """Add a job for each waiting draft if the service answers, and return the seconds until the next time.

        The leader asks the service for its rate and its list as long as a draft waits.
        """
        waiting = await self._drafts.waiting()
        if not waiting:
            self._failures = 0
            return EVERY_SECONDS
        if not await self._is_service_back():
            self._failures += 1
            return WHILE_DOWN.after(self._failures)
        self._failures = 0
        add = self._inbox.add_job
        await run_each("waiting-drafts", waiting, lambda draft: add(draft.chat_id, SHOW_AGAIN, draft.id))
        return EVERY_SECONDS

    async def _is_service_back(self) -> bool:
        try:
            await self._catalogue.quote(fresh=True)
            return bool(await self._catalogue.methods(fresh=True))
        except SettlementFailure:
            return False

    async def _expire(self, job: InboxItem) -> None:
        await self._drafts.expire(job.body, job.finish)

    async def _show_again(self, job: InboxItem) -> None:
        draft = await self._drafts.get(job.body)
        if draft is None or draft.status is not DraftStatus.OPEN or draft.message_id is None:
            return
        # With the id of the update that the draft has taken last, so that saving it takes no other update.
        session = await self._sessions.open(draft.user_id, draft.last_update_id)
        if session is not None:
            await self._draft_handlers.show_after_outage(session, draft)
            await self._sessions.save_chat(session)
