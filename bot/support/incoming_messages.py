"""Read messages for tickets: the text with its formatting, and a picture or a file."""

from pathlib import PurePath
from typing import Final

from telegram import Document, Message

from bot.support.model import IncomingMessage, MediaKind

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
