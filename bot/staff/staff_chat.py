"""Where support agents work, and how users can reach support."""

from bot.infra.db.transaction import Transaction
from bot.staff.repository import MovedChatRepository


class StaffChat:
    """The group of the support agents, or their private chats if there is no group.

    Args:
        chat_id: the group's id; 0 for none.
        agent_ids: the support agents.
    """

    def __init__(self, chat_id: int, agent_ids: frozenset[int]) -> None:
        self.agent_ids = agent_ids
        self._chat_id = chat_id

    @property
    def is_open(self) -> bool:
        """Whether there are support agents."""
        return bool(self.agent_ids)

    async def chats(self, tx: Transaction) -> tuple[int, ...]:
        """Return the chats in which tickets are shown and answered."""
        if not self._chat_id:
            return tuple(sorted(self.agent_ids))
        return (await MovedChatRepository(tx).current(self._chat_id),)

    async def group(self, tx: Transaction) -> int | None:
        """Return the group's current id; None if there is no group."""
        return await MovedChatRepository(tx).current(self._chat_id) if self._chat_id else None


class SupportContacts:
    """How users can reach support, and where they can read what happens after a failed payout.

    Args:
        staff_chat: where the support agents work.
        contact: an address outside the bot; empty for none.
        failed_payout_policy_url: the operator's policy on failed payouts; empty for none.
    """

    def __init__(self, staff_chat: StaffChat, contact: str = "", failed_payout_policy_url: str = "") -> None:
        self.contact = contact
        self.failed_payout_policy_url = failed_payout_policy_url
        self._staff_chat = staff_chat

    @property
    def is_offered(self) -> bool:
        """Whether users can reach support, in the bot or elsewhere."""
        return self.has_staff or bool(self.contact)

    @property
    def has_staff(self) -> bool:
        """Whether support agents read what users write to the bot."""
        return self._staff_chat.is_open

    @property
    def reached_by(self) -> str:
        """How users reach help: "support" in the bot, "contact" elsewhere, or "alone". Keys of texts end with it."""
        if self.has_staff:
            return "support"
        return "contact" if self.contact else "alone"
