"""Show a full recipient to a support agent: with a reason, for a minute, in the audit log before it can be seen.

A masked message is sent first. Then its id, the reason and the end are saved in one transaction. Only then the message
is edited to show the recipient. Whenever the process is killed, a row names what can be seen. This process or the next
one masks it when its minute is over.
"""

import hashlib
import secrets

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Sent
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.staff.staff_chat import StaffChat
from bot.support.reveal.masking import MaskingService
from bot.support.reveal.model import SHOWN_FOR, Reveal, RevealScreen
from bot.support.reveal.repository import RevealRepository
from bot.users.model import User
from bot.users.repository import UserRepository


class RevealService:
    """Reveal recipients, and leave it to `masking` to mask them in time."""

    def __init__(
        self, *, database: Database, clock: Clock, staff_chat: StaffChat, screen: RevealScreen, masking: MaskingService
    ) -> None:
        self._database, self._clock, self._staff_chat, self._screen = database, clock, staff_chat, screen
        self._masking = masking

    async def find_order(self, staff_id: int, reference: str) -> Order:
        """Return the order whose recipient this agent can ask for.

        Raises:
            Rejection: there is none, its recipient was deleted, or they are no support agent (any longer).
        """
        async with self._database.reading() as tx:
            return await self._find_allowed(tx, staff_id, reference)

    async def reveal(
        self, staff_id: int, reference: str, reason: str, *, question: int | None = None, answered: User | None = None
    ) -> bool:
        """Show it in the agent's private chat, and return False where it is being shown there already.

        Args:
            staff_id: the agent.
            reference: the order's.
            reason: why they need it.
            question: the message whose button was pressed. A press that is handled again after a crash shows nothing.
            answered: who has typed the reason. It is saved with the reason, so that the answer isn't taken twice.

        Raises:
            Rejection: as `find_order` does; or nothing could be shown, or an earlier one couldn't be masked yet.
        """
        order = await self.find_order(staff_id, reference)
        await self._masking.mask_due_of(staff_id)
        async with self._database.reading() as tx:
            mine = [each for each in await RevealRepository(tx).unmasked() if each.staff_id == staff_id]
            reveal_id = _reveal_id(staff_id, reference, question)
            earlier = await RevealRepository(tx).get(reveal_id)
        if any(self._masking.is_due(each) for each in mine):
            raise Rejection("reveal.still_to_mask")
        shown = next((each for each in mine if each.reference == reference), None)
        if shown is None and earlier is not None:
            return True
        kept = shown or await self._send_placeholder(reveal_id, order, staff_id, reason, answered)
        if not await self._show(kept):
            raise Rejection("reveal.not_shown")
        return shown is None

    async def hide(self, staff_id: int, reveal_id: str) -> bool:
        """Mask one before its time, and return False where it isn't theirs, or is masked already."""
        async with self._database.reading() as tx:
            reveal = await RevealRepository(tx).get(reveal_id)
        if reveal is None or reveal.staff_id != staff_id or reveal.masked_at is not None:
            return False
        await self._masking.mask(reveal)
        return True

    async def _find_allowed(self, tx: Transaction, staff_id: int, reference: str) -> Order:
        if staff_id not in self._staff_chat.agent_ids:
            raise Rejection("staff.not_yours")
        order = await OrderRepository(tx).get(reference)
        if order is None:
            raise Rejection("staff.gone")
        if not order.has_recipient:
            raise Rejection("reveal.forgotten")
        return order

    async def _send_placeholder(
        self, reveal_id: str, order: Order, staff_id: int, reason: str, answered: User | None
    ) -> Reveal:
        """Send the masked message, and save what it will show, and why."""
        sent = await self._screen.open(staff_id, order)
        if not isinstance(sent, Sent) or sent.message_id is None:
            raise Rejection("reveal.not_shown")
        now = self._clock.now()
        reveal = Reveal(
            id=reveal_id,
            reference=order.reference,
            staff_id=staff_id,
            message_id=sent.message_id,
            at=now,
            until=now + SHOWN_FOR,
        )
        async with self._database.transaction() as tx:
            await RevealRepository(tx).add(reveal)
            about, whom = f"order:{order.reference}", order.user_id
            await record_audit(tx, staff_id, AuditAction.REVEALED, about, now, user_id=whom, detail=reason)
            if answered is not None:
                await UserRepository(tx).save(answered)
        return reveal

    async def _show(self, reveal: Reveal) -> bool:
        """Edit the message, while nothing masks it: what shows it must never arrive after what masks it."""
        self._masking.wake()
        with self._masking.lock(reveal) as is_ours:
            if not is_ours:
                return True
            async with self._database.reading() as tx:
                kept = await RevealRepository(tx).get(reveal.id)
                order = await OrderRepository(tx).get(reveal.reference)
            if kept is None or kept.masked_at is not None or self._masking.is_due(kept):
                return False
            if order is None or not order.has_recipient:
                return False
            shown = await self._screen.show(kept, order)
        self._masking.wake()
        return isinstance(shown, Sent)


def _reveal_id(staff_id: int, reference: str, question: int | None) -> str:
    """Return 16 hexadecimal digits, the same for the same question, as the button that hides it has them."""
    if question is None:
        return secrets.token_hex(8)
    return hashlib.sha256(f"{staff_id}:{reference}:{question}".encode()).hexdigest()[:16]
