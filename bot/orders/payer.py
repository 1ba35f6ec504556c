"""Whose an order is: its payer's. Who asks whose an order is, or where to reach them, asks `Order.payer`.

The user who asked for the money with a link isn't the payer. They only learn the outcome.
"""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """Who pays an order: a user in their chat, or who knows a page's secret. After a deletion it is nobody.

    Attributes:
        user_id: the user.
        chat_id: where the payer is notified. A payer without a chat looks at their page.
        secret_hash: the hash of the page's secret. Only it is stored, so that no reader of the database can be the
            payer.
    """

    user_id: int | None = None
    chat_id: int | None = None
    secret_hash: str | None = field(default=None, repr=False)

    @property
    def has_chat(self) -> bool:
        """Whether the payer is a user whom a message can reach."""
        return self.chat_id is not None


def payer_in_chat(user_id: int, chat_id: int | None = None) -> Payer:
    """Return a user as a payer. Their private chat has the same id, unless another one is given."""
    return Payer(user_id=user_id, chat_id=user_id if chat_id is None else chat_id)


def payer_on_page(secret: str) -> Payer:
    """Return the payer who knows the secret of a page. The secret has at least 128 random bits."""
    return Payer(secret_hash=hashlib.sha256(secret.encode()).hexdigest())
