"""Which pictures Telegram has already: what was sent once is sent again by its id.

Kept in memory alone, by what the pictures are: after a restart each is uploaded once more.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from telegram import Message

from bot.infra.telegram.outcomes import Delivered, Invalid, Outcome, run_call

REMEMBERED: Final = 1_000


class Uploads:
    """Remembers the pictures sent last."""

    def __init__(self) -> None:
        self._id_of: OrderedDict[bytes, str] = OrderedDict()

    def known(self, photo: bytes | str) -> bytes | str:
        """The picture as it is to be sent: its id at Telegram, if it has one; what is an id stays one."""
        if isinstance(photo, str):
            return photo
        return self._id_of.get(_digest(photo), photo)

    async def sent(self, photo: bytes | str, call: Callable[[bytes | str], Awaitable[Message | bool]]) -> Outcome:
        """Send it by what Telegram knows it by, and by itself where Telegram doesn't know that any more."""
        known = self.known(photo)
        outcome = await run_call(call(known))
        if isinstance(outcome, Invalid) and known is not photo:
            self.forget(photo)
            outcome = await run_call(call(photo))
        if isinstance(outcome, Delivered):
            self.remember(photo, outcome.photo_id)
        return outcome

    def remember(self, photo: bytes | str, file_id: str | None) -> None:
        """Telegram has it by this id from now on."""
        if isinstance(photo, bytes) and file_id:
            digest = _digest(photo)
            self._id_of[digest] = file_id
            self._id_of.move_to_end(digest)
            while len(self._id_of) > REMEMBERED:
                self._id_of.popitem(last=False)

    def forget(self, photo: bytes | str) -> None:
        """Telegram doesn't know its id any more."""
        if isinstance(photo, bytes):
            self._id_of.pop(_digest(photo), None)


def _digest(photo: bytes) -> bytes:
    return hashlib.blake2b(photo, digest_size=16).digest()
