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
from bot.settlement.model import OrderNotFound, SettlementFailure
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.staff.staff_chat import StaffChat
from bot.support.reveal.masking import MaskingService
from bot.support.reveal.model import SHOWN_FOR, Reveal, RevealScreen
from bot.support.reveal.repository import RevealRepository
from bot.support.service_orders import MARK, ServiceOrder, ServiceOrders, Subject, find_subject
from bot.users.model import User
from bot.users.repository import UserRepository


class RevealService:
    """Reveal recipients. `masking` masks them in time."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
        screen: RevealScreen,
        masking: MaskingService,
        service_orders: ServiceOrders,
    ) -> None:
        self._database, self._clock, self._staff_chat, self._screen = database, clock, staff_chat, screen
        self._masking = masking
        self._service_orders = service_orders

    async def find_order(self, staff_id: int, reference: str) -> Subject:
        """Return the order, if this agent can see its recipient. The service isn't asked.

        `reference` is ours, or the service's id after its mark. If we have that order, ours is returned.

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
            reference: as in `find_order`.
            reason: why the agent needs the recipient.
            question: the message whose button was pressed. A press that is handled again after a crash shows nothing.
            answered: the agent who typed the reason, to be saved with it, so that the answer isn't taken twice.

        Raises:
            Rejection: as `find_order`; or the message couldn't be sent, an earlier recipient couldn't be masked, or the
                service couldn't be asked.
        """
        order = await self.find_order(staff_id, reference)
        if isinstance(order, ServiceOrder):
            order = await self._read(staff_id, order)
        reference = order.reference
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
        if not await self._show(kept, order):
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

    async def _read(self, staff_id: int, order: ServiceOrder) -> Subject:
        """Read the service's order. If it is ours by now, return our order, with our rules."""
        try:
            found = await self._service_orders.read(order.service_id)
        except OrderNotFound:
            raise Rejection("support.staff.gone") from None
        except SettlementFailure:
            raise Rejection("support.service_order.not_revealed") from None
        if found is None:
            return await self.find_order(staff_id, order.reference)
        if found.is_of_deleted_user:
            raise Rejection("support.reveal.forgotten")
        if not found.has_recipient:
            raise Rejection("support.service_order.masked")
        return found

    async def _find_allowed(self, tx: Transaction, staff_id: int, reference: str) -> Subject:
        if staff_id not in self._staff_chat.agent_ids:
            raise Rejection("support.staff.not_yours")
        order = await find_subject(tx, reference)
        if order is None:
            raise Rejection("support.staff.gone")
        if not order.has_recipient:
            raise Rejection("support.reveal.forgotten")
        return order

    async def _send_placeholder(
        self, reveal_id: str, order: Subject, staff_id: int, reason: str, answered: User | None
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
            is_ours = isinstance(order, Order)
            about = f"order:{order.reference}" if is_ours else f"service_order:{order.reference.removeprefix(MARK)}"
            whom = order.user_id
            await record_audit(tx, staff_id, AuditAction.REVEALED, about, now, user_id=whom, detail=reason)
            if answered is not None:
                await UserRepository(tx).save(answered)
        return reveal

    async def _show(self, reveal: Reveal, read: Subject) -> bool:
        """Edit the message to show the recipient, under a lock, so that the edit can't arrive after the mask.

        `read` is the order as it was just read. Ours is read again, because its recipient may have been deleted.
        """
        self._masking.record_shown(reveal)
        with self._masking.lock(reveal) as is_ours:
            if not is_ours:
                return True
            async with self._database.reading() as tx:
                kept = await RevealRepository(tx).get(reveal.id)
                order = await find_subject(tx, reveal.reference)
            if kept is None or kept.masked_at is not None or self._masking.is_due(kept):
                return False
            if order is None or not order.has_recipient:
                return False
            shown = await self._screen.show(kept, read if isinstance(order, ServiceOrder) else order)
        self._masking.record_shown(reveal)
        return isinstance(shown, Sent)


def _reveal_id(staff_id: int, reference: str, question: int | None) -> str:
    """Return an id of 16 hexadecimal digits, always the same for a question. It fits into the button that hides it."""
    if question is None:
        return secrets.token_hex(8)
    return hashlib.sha256(f"{staff_id}:{reference}:{question}".encode()).hexdigest()[:16]
