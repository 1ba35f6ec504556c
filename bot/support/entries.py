"""Read messages for tickets, and send entries of tickets: as quotes, so that they don't look like our own text.

We send the saved content with its picture or file. It doesn't matter if the author has edited or deleted their message
since.
"""

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, TypedDict

from telegram import Document, Message

from bot.infra.i18n import Html
from bot.infra.telegram.outbound.limiter import Priority
from bot.infra.telegram.outbound.sender import Messenger, Outcome
from bot.infra.telegram.ui.screen import CAPTION_UNITS, TEXT_UNITS, Screen, count_visible_units
from bot.support.model import IncomingMessage, MediaKind, TicketEntry

SAFE_ENDINGS: Final = frozenset(
    {".bmp", ".csv", ".gif", ".heic", ".jpeg", ".jpg", ".json", ".log", ".m4a", ".mov", ".mp3", ".mp4", ".ogg"}
    | {".pdf", ".png", ".tif", ".tiff", ".txt", ".wav", ".webm", ".webp", ".docx", ".xlsx", ".odt", ".ods"}
)
"""Endings of files in which customers send evidence. Any other, such as .apk, .exe, .html or .zip, can be a program."""


def read_message(message: Message) -> IncomingMessage | None:
    """Return the content of a message. Return None for what we don't pass on: stickers, voice messages, locations."""
    if message.photo:
        return _to_incoming(message, message.caption_html, MediaKind.PHOTO, message.photo[-1].file_id)
    if message.document is not None:
        return _to_incoming(message, message.caption_html, _judge(message.document), message.document.file_id)
    return _to_incoming(message, message.text_html) if message.text else None


def _judge(document: Document) -> MediaKind:
    """Return what staff are told about a file. Its ending decides how it is opened; the type is the sender's claim."""
    ending = PurePath((document.file_name or "").strip()).suffix.lower()
    return MediaKind.DOCUMENT if ending in SAFE_ENDINGS else MediaKind.RISKY_DOCUMENT


def _to_incoming(
    message: Message, text: str | None, media: MediaKind | None = None, file_id: str | None = None
) -> IncomingMessage:
    return IncomingMessage(
        chat_id=message.chat_id, message_id=message.message_id, text=text or None, media=media, file_id=file_id
    )


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


class _How(TypedDict):
    priority: Priority
    silent: bool
    topic_id: int | None
    reply_to: int | None


async def send_entry(messenger: Messenger, place: Place, entry: TicketEntry | None, screen: Screen) -> Outcome:
    """Send a message with `screen` as its text, and with the entry's picture or file if it has one."""
    chat_id, text, keyboard = place.chat_id, screen.text, screen.keyboard
    how = _How(priority="talk", silent=screen.silent, topic_id=place.topic_id, reply_to=place.reply_to)
    if entry is None or entry.media is None or not entry.file_id:
        return await messenger.send_text(chat_id, text, keyboard, **how)
    if entry.media.is_file:
        return await messenger.send_document(chat_id, entry.file_id, None, text, keyboard, **how)
    return await messenger.send_photo(chat_id, entry.file_id, text, keyboard, **how)


async def edit_entry(
    messenger: Messenger, chat_id: int, message_id: int, entry: TicketEntry, screen: Screen
) -> Outcome:
    """Edit one of our messages to show the entry."""
    text, keyboard = screen.text, screen.keyboard
    if entry.media is None or not entry.file_id:
        return await messenger.edit_text(chat_id, message_id, text, keyboard, priority="talk")
    edit = messenger.edit_document if entry.media.is_file else messenger.edit_photo
    return await edit(chat_id, message_id, entry.file_id, text, keyboard, priority="talk")
