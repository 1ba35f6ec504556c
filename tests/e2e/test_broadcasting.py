"""An operator writes a broadcast, sees the very messages, confirms it, and finds it in the list; nobody else can."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from tests.e2e.world import Chatter, Json, World, words_of, world


def subscribe(town: World, *people: Chatter) -> None:
    """As if they had asked for news of the rate."""
    with closing(sqlite3.connect(town.state / "kirim.db", timeout=10)) as database:
        for person in people:
            database.execute(
                "INSERT INTO subscriptions (person_id, since) VALUES (?, '2026-01-01 00:00:00.000000')", (person.id,)
            )
        database.commit()


async def writes(town: World, person: Chatter, html: str, **more: str) -> None:
    """Write with the app's own formatting; maybe under a photo."""
    await person._remember()
    order = {"from": person.id, "html": html, **more}
    (await town.telegram.post(f"/sandbox/chats/{person.chat_id}/send", json=order)).raise_for_status()


def data_of(message: Json, label: str) -> str:
    rows = message["reply_markup"]["inline_keyboard"]
    return next(str(each["callback_data"]) for row in rows for each in row if label in each["text"])


async def test_a_broadcast_is_written_seen_confirmed_and_listed_by_operators_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as town:
        for person, hello in ((town.emma, "Kirim sends"), (town.sari, "Kirim")):
            await person.says("/start")
            await person.sees(hello)
        subscribe(town, town.emma, town.sari)
        await is_nothing_to_others(town)
        draft = await is_written_with_its_formatting(town)
        await is_for_whom_is_chosen(town)
        await is_seen_exactly_and_confirmed_once(town, draft)
        await is_scheduled_by_the_operators_clock_and_called_off(town)
        await is_in_the_list(town)
        await has_a_picture_under_which_less_fits(town)


async def is_nothing_to_others(town: World) -> None:
    await town.emma.says("/broadcast")
    await town.emma.sees("command")
    assert await town.emma.count("A broadcast") == 0
    message = (await town.emma.messages())[-1]
    await town.emma.presses(message, "bc:list:0", force=True)
    assert await town.emma.count("Broadcasts") == 0


async def is_written_with_its_formatting(town: World) -> Json:
    oscar = town.oscar
    await oscar.says("/broadcast")
    draft = await oscar.sees("A broadcast")
    assert "English: the rate, in the usual words" in words_of(draft)
    await oscar.taps("English text")
    await oscar.sees(r"\{sats_100k\} sats for")
    await writes(town, oscar, "now {rats}")
    await oscar.sees(r"There is no variable \{rats\}. The variables are \{rate\}, \{usdc\}")
    await writes(town, oscar, "<b>Hello</b> <i>{rate}</i> & <u>more</u> &lt; {time}")
    shown = await oscar.sees("English: a text of your own")
    assert "Indonesian: the rate, in the usual words" in words_of(shown)
    await oscar.says("/broadcast")
    return await oscar.sees("English: a text of your own")


async def is_for_whom_is_chosen(town: World) -> None:
    oscar = town.oscar
    await oscar.taps("To whom")
    await oscar.sees("2 people")
    await oscar.taps("Indonesian")
    await oscar.sees("subscribers who read Indonesian\n👥 1 person")
    await oscar.taps("All")
    await oscar.sees("2 people")
    await oscar.taps("30 days")
    await oscar.sees("seen in the last 30 days")
    await oscar.says("0 days")
    await oscar.sees("a number of days, from 1 to 365")
    await oscar.says("14 days")
    await oscar.sees("all subscribers, seen in the last 14 days")


async def is_seen_exactly_and_confirmed_once(town: World, draft: Json) -> None:
    oscar = town.oscar
    await oscar.taps("See it as they get it")
    question = await oscar.sees("This is what they get")
    assert re.search(r"2 people \(English 1, Indonesian 1\)", words_of(question))
    preview = await oscar.sees("^Hello Rp[0-9,.]+ & more < ", anywhere=True)
    assert {"bold", "italic", "underline"} <= {entity["type"] for entity in preview["entities"]}
    await oscar.sees("^💱 Kurs hari ini", anywhere=True)
    confirm = data_of(question, "Send to 2 people")
    await oscar.taps("Send to 2 people")
    await oscar.sees("Confirmed. It begins at once")
    second = await oscar.presses(question, confirm, force=True)
    assert "changed meanwhile" in second["text"]
    await oscar.presses(draft, data_of(draft, "Discard"), force=True)
    assert await oscar.count("The draft is gone") == 0


async def is_scheduled_by_the_operators_clock_and_called_off(town: World) -> None:
    oscar = town.oscar
    await oscar.says("/broadcast")
    await oscar.sees("A broadcast")
    await oscar.taps("When")
    await oscar.sees("Your clock shows")
    await oscar.says("half past never")
    await oscar.sees("can't read that as a time")
    await oscar.taps("Daily at another time")
    await oscar.sees("At what time each day")
    await oscar.says("6:45")
    await oscar.sees("every day at 06:45")
    await oscar.taps("See it as they get it")
    await oscar.sees("The rate is taken when it begins")
    await oscar.taps("Schedule it")
    await oscar.sees("It goes every day at 06:45, first")
    await oscar.taps("End the daily broadcast")
    await oscar.sees("⏹ Rate · stopped")


async def is_in_the_list(town: World) -> None:
    oscar = town.oscar
    await oscar.says("/broadcasts")
    listed = words_of(await oscar.sees(r"Broadcasts \(2\)"))
    assert "called off" in listed
    await oscar.taps("2")
    await oscar.sees("confirmed by 2001")
    await oscar.taps("Write one like it")
    await oscar.sees("English: a text of your own")
    await oscar.taps("Discard")
    await oscar.sees("The draft is gone; nothing was sent")


async def has_a_picture_under_which_less_fits(town: World) -> None:
    oscar = town.oscar
    await oscar.says("/broadcast")
    await oscar.sees("no picture")
    await oscar.taps("Picture")
    await oscar.sees("Which picture goes with it")
    await oscar.says("a drawing")
    await oscar.sees("That isn't a photo")
    await oscar.taps("Week")
    await oscar.sees("the chart of the last week")
    await oscar.taps("See it as they get it")
    await oscar.sees("This is what they get")
    charts = [message for message in (await oscar.messages())[-5:] if "photo" in message]
    assert [words_of(each).split("\n")[0] for each in charts] == ["💱 Today's rate", "💱 Kurs hari ini"]
    await oscar.taps("Change")
    await oscar.sees("the chart of the last week")
    await oscar.taps("English text")
    await oscar.sees("Write the message for English readers")
    photo = charts[0]["photo"][-1]["file_id"]
    await writes(town, oscar, "<b>" + "x" * 1010 + "</b> {rate}", photo=photo)
    await oscar.sees("under a picture Telegram takes 1,024 at most")
    await writes(town, oscar, "<b>Look</b> {rate}", photo=photo)
    await oscar.sees("a photo of yours")
    await oscar.taps("See it as they get it")
    await oscar.sees("This is what they get")
    preview = await oscar.sees("^Look Rp")
    assert preview["photo"][-1]["file_id"] == photo
    await oscar.taps("Discard")
    await oscar.sees("The draft is gone")


async def test_a_rate_that_jumped_asks_every_operator_and_one_word_counts(tmp_path: Path) -> None:
    async with world(tmp_path, OPERATOR_IDS="2001,1002") as town:
        for person in (town.emma, town.sari):
            await person.says("/start")
            await person.sees("Kirim")
        subscribe(town, town.emma)
        await is_told_to_the_subscriber(town)
        await town.service.does("quote", btcIdr=1_000_000_000)
        await is_scheduled_with_the_new_rate_in_sight(town)
        come_true(town)
        await waits_for_one_of_both(town)


async def is_told_to_the_subscriber(town: World) -> None:
    oscar = town.oscar
    await oscar.says("/broadcast")
    await oscar.sees("A broadcast")
    await oscar.taps("See it as they get it")
    await oscar.sees("This is what they get")
    await oscar.taps("Send to 1 person")
    await oscar.sees("Confirmed")
    await town.emma.sees("Today's rate")
    await oscar.sees("The broadcast is finished")


async def is_scheduled_with_the_new_rate_in_sight(town: World) -> None:
    oscar = town.oscar
    await oscar.says("/broadcast")
    await oscar.sees("A broadcast")
    await oscar.taps("When")
    await oscar.sees("Your clock shows")
    await oscar.says("tomorrow 12:00")
    await oscar.sees("12:00 WIB")
    await oscar.taps("See it as they get it")
    # The bot asks for the rate once for all who look within some seconds.
    while not (await oscar.sees("The rate is taken when it begins") and await oscar.count("= Rp1,000,000,000")):
        await oscar.taps("Change")
        await oscar.sees("A broadcast")
        await oscar.taps("See it as they get it")
    await oscar.taps("Schedule it")
    await oscar.sees("Confirmed. It goes")


async def waits_for_one_of_both(town: World) -> None:
    oscar, sari = town.oscar, town.sari
    waiting = await oscar.sees("has moved a lot since the last broadcast", anywhere=True)
    await sari.sees("Kurs bergerak jauh sejak siaran terakhir", anywhere=True)
    await sari.taps("Lihat seperti penerima")
    await sari.sees("Inilah yang mereka terima")
    await sari.taps("Kirim ke 1 orang")
    await sari.sees(r"Kurs 3[0-9,]+% lebih rendah daripada di siaran terakhir: waktu itu Rp1\.[56]")
    await oscar.presses(waiting, data_of(waiting, "See it as they get it"), force=True)
    await oscar.sees("waits for your word")
    await sari.taps("Tetap kirim ke 1 orang")
    await sari.sees("Dikonfirmasi")
    await town.emma.sees("= Rp1,000,000,000", anywhere=True)
    await oscar.presses(waiting, data_of(waiting, "Call it off"), force=True)
    await oscar.sees("confirmed by 1002")
    assert await town.emma.count("Today's rate") == 2


def come_true(town: World) -> None:
    """As if the time of what is scheduled had come."""
    with closing(sqlite3.connect(town.state / "kirim.db", timeout=10)) as database:
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        database.execute("UPDATE broadcasts SET starts_at = ? WHERE status = 'scheduled'", (now,))
        database.commit()
