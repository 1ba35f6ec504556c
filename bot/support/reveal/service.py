"""Show a full recipient to a support agent for a minute, with a reason in the audit log.

First we send a masked message. Then we save its id, the reason and the end in one transaction. Only then we edit the
message to show the recipient. So even if the process is killed, a row names each recipient that can be seen. Whichever
process then has the agent's chat masks it after its minute.
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
    """Reveal recipients. `masking` masks them in time."""

    def __init__(
        self, *, database: Database, clock: Clock, staff_chat: StaffChat, screen: RevealScreen, masking: MaskingService
    ) -> None:
        self._database, self._clock, self._staff_chat, self._screen = database, clock, staff_chat, screen
        self._masking = masking

    async def find_order(self, staff_id: int, reference: str) -> Order:
        """Return the order, if this agent can see its recipient.

        Raises:
            Rejection: there is no such order, its recipient was deleted, or `staff_id` isn't a support agent.
        """
        async with self._database.reading() as tx:
            return await self._find_allowed(tx, staff_id, reference)

    async def reveal(
        self, staff_id: int, reference: str, reason: str, *, question: int | None = None, answered: User | None = None
    ) -> bool:
        """Show the recipient in the agent's private chat. Return False if it is shown there already.

        Args:
            staff_id: the agent.
            reference: the order's reference.
            reason: why the agent needs the recipient.
            question: the message whose button was pressed. A press that is handled again after a crash shows nothing.
            answered: the agent who typed the reason, to be saved with it, so that the answer isn't taken twice.

        Raises:
            Rejection: as `find_order`; or the message couldn't be sent, or an earlier recipient couldn't be masked.
        """
        order = await self.find_order(staff_id, reference)
        await self._masking.mask_due_of(staff_id)
        async with self._database.reading() as tx:
            mine = [each for each in await RevealRepository(tx).unmasked() if each.staff_id == staff_id]
            reveal_id = _reveal_id(staff_id, reference, question)
            earlier = await RevealRepository(tx).get(reveal_id)
        if any(self._masking.is_due(each) for each in mine):
            raise Rejection("support.reveal.still_to_mask")
        shown = next((each for each in mine if each.reference == reference), None)
        if shown is None and earlier is not None:
            return True
        kept = shown or await self._send_placeholder(reveal_id, order, staff_id, reason, answered)
        if not await self._show(kept):
            raise Rejection("support.reveal.not_shown")
        return shown is None

    async def hide(self, staff_id: int, reveal_id: str) -> bool:
        """Mask a reveal early. Return False if it isn't the agent's, or is masked already."""
        async with self._database.reading() as tx:
            reveal = await RevealRepository(tx).get(reveal_id)
        if reveal is None or reveal.staff_id != staff_id or reveal.masked_at is not None:
            return False
        await self._masking.mask(reveal)
        return True

    async def _find_allowed(self, tx: Transaction, staff_id: int, reference: str) -> Order:
        if staff_id not in self._staff_chat.agent_ids:
            raise Rejection("support.staff.not_yours")
        order = await OrderRepository(tx).get(reference)
        if order is None:
            raise Rejection("support.staff.gone")
        if not order.has_recipient:
            raise Rejection("support.reveal.forgotten")
        return order

    async def _send_placeholder(
        self, reveal_id: str, order: Order, staff_id: int, reason: str, answered: User | None
    ) -> Reveal:
        """Send the masked message. Save the reveal with its reason."""
        sent = await self._screen.open(staff_id, order)
        if not isinstance(sent, Sent) or sent.message_id is None:
            raise Rejection("support.reveal.not_shown")
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
        """Edit the message to show the recipient, under a lock, so that the edit can't arrive after the mask."""
        self._masking.record_shown(reveal)
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
        self._masking.record_shown(reveal)
        return isinstance(shown, Sent)


def _reveal_id(staff_id: int, reference: str, question: int | None) -> str:
    """Return an id of 16 hexadecimal digits, always the same for a question. It fits into the button that hides it."""
    if question is None:
        return secrets.token_hex(8)
    return hashlib.sha256(f"{staff_id}:{reference}:{question}".encode()).hexdigest()[:16]
