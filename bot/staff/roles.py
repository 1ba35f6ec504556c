"""Where support works: its group, or the private chat of each supporter where there is no group."""

from bot.infra.db.transaction import Transaction
from bot.staff.chat_repository import MovedChatRepository


class StaffChat:
    """`chat_id` is the group's, 0 for none; `supporters` are those who help people."""

    def __init__(self, chat_id: int, supporters: frozenset[int]) -> None:
        self.supporters = supporters
        self._chat_id = chat_id

    @property
    def is_open(self) -> bool:
        """Whether anybody is there to help."""
        return bool(self.supporters)

    async def chats(self, tx: Transaction) -> tuple[int, ...]:
        """The chats in which tickets are told and answered."""
        if not self._chat_id:
            return tuple(sorted(self.supporters))
        return (await MovedChatRepository(tx).current(self._chat_id),)

    async def group(self, tx: Transaction) -> int | None:
        """The group's id as it is now; None where there is no group."""
        return await MovedChatRepository(tx).current(self._chat_id) if self._chat_id else None
