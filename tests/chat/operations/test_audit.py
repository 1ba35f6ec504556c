"""Operators read what staff did, in pages and as a file. Nobody else reads the log, and nobody changes it."""

import csv
import io
import re
import sqlite3
from contextlib import closing

import pytest

from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.system import System
from tests.texts import label, like, shown_user, text

session_loop = pytest.mark.asyncio(loop_scope="session")
TITLE = f"{like('staff.audit.title')}|{like('staff.audit.title_of')}"


async def reveal_recipient(shared_system: System, reason: str) -> tuple[ChatUser, str]:
    """Let Rina reveal the recipient of a new user's order, with a typed reason."""
    emma = await new_user(shared_system)
    _, order = await tap_to_invoice(shared_system, emma)
    reference = str(row_of(shared_system, order)["reference"])
    await shared_system.rina.speaks("en")
    await shared_system.rina.says("/start")
    under = await shared_system.rina.sees(like("home.start.staff"))
    await shared_system.rina.presses(under, f"rv:{reference}:ask", force=True)
    await shared_system.rina.taps(
        label("support.reveal.other"),
        message=await shared_system.rina.sees(f"{reference}(.|\n)*{like('support.reveal.ask')}"),
    )
    await shared_system.rina.sees(like("support.reveal.type"))
    await shared_system.rina.says(reason)
    shown = like("support.reveal.shown", line=re.compile(f".*{reference}.*"))
    await shared_system.rina.taps(label("support.reveal.hide"), message=await shared_system.rina.sees(shown))
    await shared_system.rina.sees(like("support.reveal.masked"))
    return emma, reference


def revealed_line(reference: str, user: ChatUser, reason: str) -> str:
    """Return the entry about a revealed recipient."""
    revealed = text("staff.audit.revealed", subject=text("staff.audit.of_order", name=reference))
    return text(
        "staff.audit.why", said=text("staff.audit.about", said=revealed, user=f"Newcomer ({user.id})"), detail=reason
    )


def exported_line(subject: str, locale: str = "en") -> str:
    """Return the beginning of the entry about a file, up to the year of its first day."""
    return text("staff.audit.why", locale, said=text("staff.audit.exported", locale, subject=subject), detail="20")


async def download_rows(user: ChatUser, message: Json) -> list[dict[str, str]]:
    answer = await user._http.get(f"/sandbox/files/{message['document']['file_id']}")
    return list(csv.DictReader(io.StringIO(answer.raise_for_status().content.decode(), newline="")))


@session_loop
async def test_an_operator_reads_and_downloads_who_saw_what_and_why(shared_system: System) -> None:
    oscar = ChatUser(shared_system.telegram, shared_system.oscar.id)
    await oscar.speaks("en")
    emma, reference = await reveal_recipient(shared_system, "the bank wants to know")
    await oscar.says("/audit")
    said = revealed_line(reference, emma, "the bank wants to know")
    assert f"Rina ({shared_system.rina.id})\n{said}" in text_of(await oscar.sees(TITLE))
    await oscar.taps(label("staff.audit.only", actor="Rina"))
    assert said in text_of(await oscar.sees(like("staff.audit.title_of", actor=shown_user(shared_system.rina.id))))
    await oscar.taps(label("staff.audit.everybody"))
    await oscar.sees(TITLE)
    await oscar.taps(label("staff.audit.export"))
    await oscar.sees(like("staff.audit.ask"))
    await oscar.taps(label("staff.export.day"))
    document = await oscar.sees(like("staff.audit.caption"))
    assert document["document"]["file_name"].startswith("kirim-audit-")
    (row,) = [each for each in await download_rows(oscar, document) if each["subject"] == f"order:{reference}"]
    assert (row["actor_id"], row["action"], row["person_id"]) == (str(shared_system.rina.id), "revealed", str(emma.id))
    assert row["detail"] == "the bank wants to know"
    await oscar.says(f"/audit {oscar.id}")
    assert f"Oscar ({oscar.id})\n{exported_line(text('staff.audit.of_trail'))}" in text_of(await oscar.sees(TITLE))


@session_loop
async def test_no_button_changes_the_log_and_made_up_ones_find_nothing(shared_system: System) -> None:
    await reveal_recipient(shared_system, "the bank asks again")
    await shared_system.oscar.speaks("en")
    await shared_system.oscar.says("/audit")
    under = await shared_system.oscar.sees(TITLE)
    before = audit_rows(shared_system)
    for button in ("au:page:zzz:", "au:page:x' OR 1=1:", "au:delete:1", "au:csv:century", f"au:page:{'9' * 40}:1"):
        assert (await shared_system.oscar.presses(under, button, force=True))["text"]
    for typed in ("/audit ' OR 1=1", f"/audit {'9' * 30}", "/audit delete"):
        await shared_system.oscar.says(typed)
        await shared_system.oscar.sees(TITLE)
    assert audit_rows(shared_system) == before


def audit_rows(shared_system: System) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(shared_system.state / "kirim.db")) as database:
        return database.execute("SELECT * FROM audit ORDER BY id").fetchall()
