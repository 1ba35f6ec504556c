"""What a message of a customer holds, and whether staff are warned of its file."""

from datetime import UTC, datetime

import pytest
from telegram import Chat, Document, Message

from bot.support.entries import read_message
from bot.support.model import MediaKind


def send_file(name: str | None, mime_type: str | None = None) -> MediaKind | None:
    """Return what a message with this file holds."""
    document = Document("id", "unique", file_name=name, mime_type=mime_type)
    found = read_message(Message(1, datetime.now(UTC), Chat(1, Chat.PRIVATE), document=document))
    assert found is not None
    assert found.file_id == "id"
    return found.media


@pytest.mark.parametrize("name", ["receipt.pdf", "Bukti Transfer.JPG", "statement.v2.xlsx", "a.png"])
def test_evidence_is_a_file_like_any_other(name: str) -> None:
    assert send_file(name) is MediaKind.DOCUMENT


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Undangan.apk",
            "setup.exe",
            "bca.html",
            "login.htm",
            "photo.svg",
            "all.zip",
            "x.docm",
            "run.bat",
            "run.command",
        ),
        *(
            "receipt.pdf.exe",
            "receipt.pdf .exe",
            "receipt\u202efdp.exe",
            "receipt.pdf.",
            "receipt",
            "",
            ".",
            "📎" * 60,
            None,
        ),
    ],
)
def test_staff_are_warned_of_a_file_that_can_be_a_program(name: str | None) -> None:
    assert send_file(name) is MediaKind.RISKY_DOCUMENT


def test_the_type_that_a_sender_claims_does_not_make_a_file_safe() -> None:
    assert send_file("receipt.apk", "application/pdf") is MediaKind.RISKY_DOCUMENT
    assert send_file(None, "application/pdf") is MediaKind.RISKY_DOCUMENT
