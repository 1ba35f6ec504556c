"""Whether there is anybody to help: support here in the chat, or a contact elsewhere."""

from bot.staff.roles import StaffChat


class Help:
    """`contact` is whom people may write to themselves; empty where there is nobody."""

    def __init__(self, room: StaffChat, contact: str = "") -> None:
        self.contact = contact
        self._room = room

    @property
    def is_offered(self) -> bool:
        """Whether there's anybody to ask, here or elsewhere."""
        return self.has_staff or bool(self.contact)

    @property
    def has_staff(self) -> bool:
        """Whether what is written here reaches somebody."""
        return self._room.is_open
