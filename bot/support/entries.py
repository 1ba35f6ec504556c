"""Send entries of tickets: as quotes, so that they don't look like our own text, with their picture or file.

We send the saved content. It doesn't matter if the author has edited or deleted their message since.
"""

import re
from dataclasses import dataclass
from typing import Final

from bot.infra.i18n import Html
from bot.infra.telegram.outbound.limiter import Priority
from bot.infra.telegram.outbound.sender import Messenger, Outcome
from bot.infra.telegram.outbound.truncate import CAPTION_UNITS, TEXT_UNITS, count_visible_units
from bot.infra.telegram.ui.screen import Screen
from bot.support.model import IncomingMessage, MediaKind, TicketEntry

OWN_UNITS: Final = 300
"""The units left for our own text around a quote, such as the order that the ticket is about."""

_QUOTE = re.compile(r"</?blockquote[^>]*>")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a chat a message is sent."""

    chat_id: int
    topic_id: int | None = None
    reply_to: int | None = None


def format_quote(html: str | None) -> Html:
    """Return a text as a quote; empty if there is no text. Quotes in it are removed, since Telegram rejects them."""
    words = _QUOTE.sub("", html or "")
    return Html(f"<blockquote>{words}</blockquote>") if words.strip() else Html("")


def with_quote(text: str, html: str | None) -> Html:
    """Return our text, with the sender's text under it as a quote."""
    return Html("\n".join(part for part in (text, format_quote(html)) if part))


def count_excess_units(incoming: IncomingMessage) -> int:
    """Return by how many units a message is too long to be passed on. We never cut a message."""
    longest = (CAPTION_UNITS if incoming.media else TEXT_UNITS) - OWN_UNITS
    return max(count_visible_units(incoming.text or "") - longest, 0)


async def send_entry(
    messenger: Messenger, place: Place, entry: TicketEntry, screen: Screen, *, priority: Priority = "talk"
) -> Outcome:
    """Send a message with the entry's picture or file, and with `screen` as its text."""
    text, keyboard, silent = screen.text, screen.keyboard, screen.silent
    topic, reply_to = place.topic_id, place.reply_to
    if entry.media is MediaKind.PHOTO and entry.file_id:
        return await messenger.send_photo(
            place.chat_id,
            entry.file_id,
            text,
            keyboard,
            priority=priority,
            silent=silent,
            topic_id=topic,
            reply_to=reply_to,
        )
    if entry.media and entry.media.is_file and entry.file_id:
        return await messenger.send_document(
            place.chat_id,
            entry.file_id,
            None,
            text,
            keyboard,
            priority=priority,
            silent=silent,
            topic_id=topic,
            reply_to=reply_to,
        )
    return await messenger.send_text(
        place.chat_id, text, keyboard, priority=priority, silent=silent, topic_id=topic, reply_to=reply_to
    )


async def edit_entry(
    messenger: Messenger,
    chat_id: int,
    message_id: int,
    entry: TicketEntry,
    screen: Screen,
    *,
    priority: Priority = "talk",
) -> Outcome:
    """Edit one of our messages to show the entry."""
    if entry.media is MediaKind.PHOTO and entry.file_id:
        return await messenger.edit_photo(
            chat_id, message_id, entry.file_id, screen.text, screen.keyboard, priority=priority
        )
    if entry.media and entry.media.is_file and entry.file_id:
        return await messenger.edit_document(
            chat_id, message_id, entry.file_id, screen.text, screen.keyboard, priority=priority
        )
    return await messenger.edit_text(chat_id, message_id, screen.text, screen.keyboard, priority=priority)
