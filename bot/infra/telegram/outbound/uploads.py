"""A cache of uploaded pictures. A picture that was sent before is sent again by Telegram's id for it.

The cache is only in memory, by the content of the pictures. After a restart each is uploaded again.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from telegram import Message

from bot.infra.telegram.outcomes import Delivered, Invalid, Outcome, run_call

MAX_REMEMBERED: Final = 1_000


class Uploads:
    """Remembers the ids of the pictures that were sent last."""

    def __init__(self) -> None:
        self._id_of: OrderedDict[bytes, str] = OrderedDict()

    def find_id(self, photo: bytes | str) -> bytes | str:
        """Return Telegram's id of the picture if it is known, else the picture. An id stays an id."""
        if isinstance(photo, str):
            return photo
        return self._id_of.get(_digest(photo), photo)

    async def send(self, photo: bytes | str, call: Callable[[bytes | str], Awaitable[Message | bool]]) -> Outcome:
        """Send a picture by its id if it is known. If Telegram no longer knows the id, upload the picture."""
        photo_or_id = self.find_id(photo)
        outcome = await run_call(call(photo_or_id))
        if isinstance(outcome, Invalid) and photo_or_id is not photo:
            self.forget(photo)
            outcome = await run_call(call(photo))
        if isinstance(outcome, Delivered):
            self.remember(photo, outcome.photo_id)
        return outcome

    def remember(self, photo: bytes | str, file_id: str | None) -> None:
        """Save the id that Telegram gave a picture."""
        if isinstance(photo, bytes) and file_id:
            digest = _digest(photo)
            self._id_of[digest] = file_id
            self._id_of.move_to_end(digest)
            while len(self._id_of) > MAX_REMEMBERED:
                self._id_of.popitem(last=False)

    def forget(self, photo: bytes | str) -> None:
        """Delete the id of a picture, because Telegram no longer knows it."""
        if isinstance(photo, bytes):
            self._id_of.pop(_digest(photo), None)


def _digest(photo: bytes) -> bytes:
    return hashlib.blake2b(photo, digest_size=16).digest()
