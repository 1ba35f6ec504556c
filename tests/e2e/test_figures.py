"""Figures for operators: the service's and the bot's own, by picture and text, and orders as a file."""

import csv
import io
import re

import pytest

from tests.e2e.people import Newcomer, bot_knows, completes, newcomer, taps_to_invoice
from tests.e2e.steps import reaches_invoice
from tests.e2e.world import Json, World, words_of

in_town = pytest.mark.asyncio(loop_scope="session")


async def table_of(person: Newcomer, message: Json) -> tuple[str, list[dict[str, str]]]:
    """A document's name and its rows."""
    answer = await person._http.get(f"/sandbox/files/{message['document']['file_id']}")
    text = answer.raise_for_status().content.decode()
    return message["document"]["file_name"], list(csv.DictReader(io.StringIO(text, newline="")))


def count_in(text: str, what: str) -> int:
    """The number behind some words."""
    match = re.search(rf"{what}: ([\d,.]+)", text)
    assert match, text
    return int(re.sub(r"\D", "", match[1]))


def volume_in(text: str) -> int:
    """The rupiah of all paid orders; the town may have seen some before."""
    match = re.search(r"Volume: Rp([\d,]+)", text)
    return int(match[1].replace(",", "")) if match else 0


async def asks_for_figures(oscar: Newcomer) -> tuple[Json, Json]:
    """The picture, and what the service tells."""
    await oscar.says("/stats")
    picture = await oscar.sees("Last 7 days")
    return picture, await oscar.sees("The settlement service")


@in_town
async def test_an_operator_sees_what_was_ordered_paid_and_sent_and_takes_it_along(town: World) -> None:
    oscar, emma = Newcomer(town.telegram, town.oscar.id), await newcomer(town)
    await oscar.speaks("en")
    before, service = await asks_for_figures(oscar)
    assert before["photo"]
    assert "Deposit rails\n• Bitcoin on-chain" in service["text"]
    _, order = await taps_to_invoice(town, emma)
    await town.service.pays(order)
    await emma.sees("Payment received at", anywhere=True)
    await completes(town, order)
    await bot_knows(town, order, phase="done")
    after, service = await asks_for_figures(oscar)
    texts = words_of(before), words_of(after)
    already = count_in(texts[0], "Orders") if "Orders: " in texts[0] else 0
    assert count_in(texts[1], "Orders") == already + 1
    assert count_in(texts[1], "People") >= count_in(texts[0], "People") + 1
    assert re.search(r"Volume: Rp[\d,]+ · [\d,]+ sats", texts[1])
    assert volume_in(texts[1]) == volume_in(texts[0]) + 500_000
    assert "Orders in all: " in service["text"]
    await oscar.taps("24 hours", message=after)
    day = await oscar.sees("Last 24 hours")
    assert day["message_id"] == after["message_id"]
    assert day["photo"][-1]["file_id"] != after["photo"][-1]["file_id"]
    await oscar.taps("Orders as a file", message=day)
    await oscar.sees("Of which time")
    await oscar.taps("This month")
    document = await oscar.sees("It holds no numbers, names, people or chats")
    name, rows = await table_of(oscar, document)
    assert re.fullmatch(r"kirim-orders-\d{4}-\d\d-01-to-\d{4}-\d\d-\d\d\.csv", name)
    (row,) = [row for row in rows if row["service_id"] == order["id"]]
    assert (row["outcome"], row["idr"], row["sats"]) == ("sent", "500000", str(order["satAmount"]))
    assert not {"1234567890", str(emma.id)} & {cell for each in rows for cell in each.values()}
    asked = [await oscar.count("It holds no numbers"), len(rows)]
    await oscar.taps("This month")
    assert await oscar.count("It holds no numbers") == asked[0], "a second tap sends no second file"


@in_town
async def test_a_time_is_typed_and_the_service_may_be_away(town: World) -> None:
    oscar, emma = Newcomer(town.telegram, town.oscar.id), await newcomer(town)
    await oscar.speaks("id")
    await reaches_invoice(town, emma)
    await oscar.says("/export")
    await oscar.sees("Untuk waktu yang mana")
    await oscar.says("kapan saja")
    await oscar.sees("Waktunya tidak terbaca")
    await oscar.says("1/1/2001 - 2/1/2001")
    await oscar.sees("Tidak ada pesanan dalam waktu ini")
    await oscar.says("/export 3 hari")
    document = await oscar.sees("Tidak ada nomor, nama, orang, atau chat")
    assert (await table_of(oscar, document))[1]
    await town.service.fails_with("html", method="GET", path="/v1/platform/stats", times=None)
    await oscar.says("/stats")
    await oscar.sees("7 hari terakhir")
    told = await oscar.sees("Layanan sedang tidak memberi tahu angkanya", within=40)
    assert "Jalur deposit\n• Bitcoin on-chain" in told["text"]
    await town.service.heals()
    await town.service.does("settings", profile="live", configured=False)
    await oscar.says("/stats")
    told = await oscar.sees("Slogan: ")
    assert re.search(
        r"Seluruh pesanan: \d+\nVolume dalam rupiah: Rp[\d.]+\nVolume dalam sat: [\d.]+ sat\n", told["text"]
    )
    assert "hanya Lightning yang bisa dipakai" in told["text"]
    await oscar.speaks("en")


@in_town
async def test_whoever_is_no_operator_meets_an_unknown_command_and_an_old_button(town: World) -> None:
    emma, oscar = await newcomer(town), Newcomer(town.telegram, town.oscar.id)
    await emma.says("/start")
    greeting = await emma.sees("Send rupiah|rupiah")
    for command in ("/stats", "/export", "/export 2026"):
        await emma.says(command)
        await emma.sees("I don't know that command")
    for button in ("st:show:week", "st:export", "st:csv:month"):
        pressed = await emma.presses(greeting, button, force=True)
        assert pressed["text"]
    assert await emma.count("Orders as a file|Last 7 days|It holds no numbers") == 0
    await oscar.speaks("en")
    await oscar.says("/export")
    asking = await oscar.sees("Of which time")
    for button in ("st:csv:century", "st:show:year", "st:csv"):
        assert (await oscar.presses(asking, button, force=True))["text"]


async def test_whoever_was_an_operator_when_a_question_was_asked_isnt_one_when_it_is_answered(kirim: World) -> None:
    await kirim.oscar.speaks("en")
    await kirim.oscar.says("/export")
    await kirim.oscar.sees("Of which time")
    await kirim.stop_bot()
    await kirim.start_bot(OPERATOR_IDS="2999")
    await kirim.oscar.says("3 days")
    await kirim.oscar.sees("Kirim sends rupiah from this chat")
    assert await kirim.oscar.count("No orders were placed") == 0
