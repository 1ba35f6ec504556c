"""Operators read who of the staff did what, in pages and as a file; nobody else does, and nobody changes it."""

import csv
import io
import re
import sqlite3
from contextlib import closing

import pytest

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.people import Newcomer, newcomer, row_of, taps_to_invoice
from tests.e2e.world import Chatter, Json, World, words_of
from tests.texts import label, like, text

in_town = pytest.mark.asyncio(loop_scope="session")
TITLE = f"{like('audit.title')}|{like('audit.title_of')}"


async def reveals(town: World, reason: str) -> tuple[Newcomer, str]:
    """Rina has seen the recipient of somebody's order, with a reason of her own."""
    emma = await newcomer(town)
    _, order = await taps_to_invoice(town, emma)
    reference = str(row_of(town, order)["reference"])
    await town.rina.speaks("en")
    await town.rina.says("/start")
    under = await town.rina.sees(like("start.text"))
    await town.rina.presses(under, f"rv:{reference}:ask", force=True)
    await town.rina.taps(label("reveal.other"), message=await town.rina.sees(f"{reference}(.|\n)*{like('reveal.ask')}"))
    await town.rina.sees(like("reveal.type"))
    await town.rina.says(reason)
    shown = like("reveal.shown", line=re.compile(f".*{reference}.*"))
    await town.rina.taps(label("reveal.hide"), message=await town.rina.sees(shown))
    await town.rina.sees(like("reveal.masked"))
    return emma, reference


def about(reference: str, person: Chatter, reason: str) -> str:
    """What the trail says of a recipient that was seen."""
    revealed = text("audit.revealed", subject=text("audit.of_order", name=reference))
    return text("audit.why", said=text("audit.about", said=revealed, person=str(person.id)), detail=reason)


def took(subject: str, locale: str = "en") -> str:
    """What the trail says of a file, as far as the year of its first day."""
    return text("audit.why", locale, said=text("audit.exported", locale, subject=subject), detail="20")


async def rows_of(person: Chatter, message: Json) -> list[dict[str, str]]:
    answer = await person._http.get(f"/sandbox/files/{message['document']['file_id']}")
    return list(csv.DictReader(io.StringIO(answer.raise_for_status().content.decode(), newline="")))


@in_town
async def test_an_operator_reads_who_saw_what_and_why_and_takes_it_along(town: World) -> None:
    oscar = Newcomer(town.telegram, town.oscar.id)
    await oscar.speaks("en")
    emma, reference = await reveals(town, "the bank wants to know")
    await oscar.says("/audit")
    said = about(reference, emma, "the bank wants to know")
    assert f"{town.rina.id}\n{said}" in words_of(await oscar.sees(TITLE))
    await oscar.taps(label("audit.only", actor=str(town.rina.id)))
    assert said in words_of(await oscar.sees(like("audit.title_of", actor=str(town.rina.id))))
    await oscar.taps(label("audit.everybody"))
    await oscar.sees(TITLE)
    await oscar.taps(label("audit.export"))
    await oscar.sees(like("audit.ask"))
    await oscar.taps(label("export.day"))
    document = await oscar.sees(like("audit.caption"))
    assert document["document"]["file_name"].startswith("kirim-audit-")
    (row,) = [each for each in await rows_of(oscar, document) if each["subject"] == f"order:{reference}"]
    assert (row["actor_id"], row["action"], row["person_id"]) == (str(town.rina.id), "revealed", str(emma.id))
    assert row["detail"] == "the bank wants to know"
    await oscar.says(f"/audit {oscar.id}")
    assert f"{oscar.id}\n{took(text('audit.of_trail'))}" in words_of(await oscar.sees(TITLE))


@in_town
async def test_what_operators_do_themselves_is_written_down_too_in_indonesian(town: World) -> None:
    oscar = Newcomer(town.telegram, town.oscar.id)
    await taps_to_invoice(town, await newcomer(town))
    await oscar.speaks("id")
    await oscar.says("/export 3 hari")
    await oscar.sees(like("export.caption", "id"))
    await oscar.says(f"/audit {oscar.id}")
    trail_of_oscar = words_of(await oscar.sees(like("audit.title_of", "id", actor=str(oscar.id))))
    assert took(text("audit.of_orders", "id"), "id") in trail_of_oscar
    await oscar.speaks("en")


@in_town
async def test_pages_turn(town: World) -> None:
    await taps_to_invoice(town, await newcomer(town))
    await town.oscar.speaks("en")
    for _ in range(9):
        await town.oscar.says("/export 300 days")
        await town.oscar.sees(like("export.caption"))
    await town.oscar.says("/audit")
    newest = await town.oscar.sees(TITLE)
    await town.oscar.taps(label("audit.older"), message=newest)
    older = await town.oscar.sees(TITLE)
    assert older["message_id"] == newest["message_id"]
    assert words_of(older) != words_of(newest)
    await town.oscar.taps(label("audit.newest"), message=older)
    assert words_of(await town.oscar.sees(TITLE)) == words_of(newest)


@in_town
async def test_nobody_but_an_operator_in_private_reads_it(town: World) -> None:
    emma, reference = await reveals(town, "compare with the slip")
    await town.oscar.speaks("en")
    for person in (emma, town.rina):
        await person.says("/audit")
        await person.sees(like("talk.unknown_command"))
        await person.says("/start")
        under = await person.sees(like("start.text"))
        for button in ("au:page::", f"au:page::{town.rina.id}", "au:export", "au:csv:day", "au:nothing"):
            assert (await person.presses(under, button, force=True))["text"]
        assert await person.count(TITLE) == 0
    group = Chatter(town.telegram, town.oscar.id, SUPPORT_GROUP_ID)
    under = await group.says("/audit")
    for button in ("au:page::", "au:export", "au:csv:day"):
        assert (await group.presses(under, button, force=True))["text"]
    assert await group.count(f"{TITLE}|{reference}|compare with") == 0


@in_town
async def test_no_button_of_the_trail_changes_it_and_made_up_ones_find_nothing(town: World) -> None:
    await reveals(town, "the bank asks again")
    await town.oscar.speaks("en")
    await town.oscar.says("/audit")
    under = await town.oscar.sees(TITLE)
    before = trail(town)
    for button in ("au:page:zzz:", "au:page:x' OR 1=1:", "au:delete:1", "au:csv:century", f"au:page:{'9' * 40}:1"):
        assert (await town.oscar.presses(under, button, force=True))["text"]
    for typed in ("/audit ' OR 1=1", f"/audit {'9' * 30}", "/audit delete"):
        await town.oscar.says(typed)
        await town.oscar.sees(TITLE)
    assert trail(town) == before


def trail(town: World) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(town.state / "kirim.db")) as database:
        return database.execute("SELECT * FROM audit ORDER BY id").fetchall()
