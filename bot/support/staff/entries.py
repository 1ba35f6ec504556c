"""What was written in a ticket, brought to somebody else: as a quote, with its picture or its file, never as our words.

The content is ours by then: a message that was deleted or changed since makes no difference.
"""

import re
from dataclasses import dataclass
from typing import Final

from bot.infra.i18n import Html
from bot.infra.telegram.outbound.limiter import Lane
from bot.infra.telegram.outbound.sender import Messenger, Outcome
from bot.infra.telegram.outbound.truncate import CAPTION_UNITS, TEXT_UNITS, visible_units
from bot.infra.telegram.ui.screen import Screen
from bot.support.model import MediaKind, TicketEntry, Written

ROOM_FOR_OURS: Final = 300
"""What stands around somebody's words: whose ticket it is, and which order it is about."""

_QUOTE = re.compile(r"</?blockquote[^>]*>")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a chat something is to stand."""

    chat_id: int
    topic_id: int | None = None
    reply_to: int | None = None


def quote(html: str | None) -> Html:
    """Somebody's words, set off from ours; Telegram takes no quote within a quote. Empty where there are none."""
    words = _QUOTE.sub("", html or "")
    return Html(f"<blockquote>{words}</blockquote>") if words.strip() else Html("")


def with_quote(said: str, html: str | None) -> Html:
    """Our words and theirs under them."""
    return Html("\n".join(part for part in (said, quote(html)) if part))


def too_long_by(written: Written) -> int:
    """How much has to be left out before it can be passed on whole: it isn't cut behind its author's back."""
    longest = (CAPTION_UNITS if written.media else TEXT_UNITS) - ROOM_FOR_OURS
    return max(visible_units(written.text or "") - longest, 0)


async def send_entry(
    messenger: Messenger, place: Place, entry: TicketEntry, screen: Screen, *, lane: Lane = "talk"
) -> Outcome:
    """A new message with the entry's picture or file; `screen` says what stands with it."""
    text, keyboard, silent = screen.text, screen.keyboard, screen.silent
    topic, reply_to = place.topic_id, place.reply_to
    if entry.media is MediaKind.PHOTO and entry.file_id:
        return await messenger.send_photo(
            place.chat_id, entry.file_id, text, keyboard, lane=lane, silent=silent, topic_id=topic, reply_to=reply_to
        )
    if entry.media is MediaKind.DOCUMENT and entry.file_id:
        return await messenger.send_document(
            place.chat_id,
            entry.file_id,
            None,
            text,
            keyboard,
            lane=lane,
            silent=silent,
            topic_id=topic,
            reply_to=reply_to,
        )
    return await messenger.send_text(
        place.chat_id, text, keyboard, lane=lane, silent=silent, topic_id=topic, reply_to=reply_to
    )


async def edit_entry(
    messenger: Messenger, chat_id: int, message_id: int, entry: TicketEntry, screen: Screen, *, lane: Lane = "talk"
) -> Outcome:
    """The same in the place of an older message of ours."""
    if entry.media is MediaKind.PHOTO and entry.file_id:
        return await messenger.edit_photo(chat_id, message_id, entry.file_id, screen.text, screen.keyboard, lane=lane)
    if entry.media is MediaKind.DOCUMENT and entry.file_id:
        return await messenger.files.edit_document(
            chat_id, message_id, entry.file_id, screen.text, screen.keyboard, lane=lane
        )
    return await messenger.edit_text(chat_id, message_id, screen.text, screen.keyboard, lane=lane)
