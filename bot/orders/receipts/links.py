"""The addresses where the code of a receipt is checked."""

from dataclasses import dataclass
from typing import Final

from bot.orders.page_url import receipt_url
from bot.orders.receipts.codes import compact_code

PREFIX: Final = "v_"
"""The prefix of the argument of `/start` in the link to the chat."""


@dataclass(frozen=True, slots=True)
class ReceiptLinks:
    """Where a receipt is checked: in the chat with the bot, and in any browser if there are web pages.

    Attributes:
        bot: the bot's name without its @, or "" if it isn't known.
        public_url: the address of the web pages, or "" if there are none.
    """

    bot: str
    public_url: str = ""

    def to_chat(self, code: str) -> str | None:
        """Return the address that checks the code in the chat, or None if the bot's name isn't known."""
        return f"https://t.me/{self.bot}?start={PREFIX}{compact_code(code)}" if self.bot else None

    def to_page(self, code: str) -> str | None:
        """Return the address of the web page that checks the code, or None if there are no pages."""
        return receipt_url(self.public_url, compact_code(code)) if self.public_url else None
