"""An operator writes a broadcast, sees the very messages, confirms it, and finds it in the list; nobody else can."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.local_times import hour_far_from_now
from tests.e2e.system import System, running_system
from tests.texts import in_any_language, label, like, name_of, says, starts, text
from tests.waiting import TIMEOUT_SECONDS

ENGLISH, INDONESIAN = name_of("en"), name_of("id")
LISTED = like("broadcast.list_title")


def subscribe(shared_system: System, *people: ChatUser) -> None:
    """As if they had asked for rate updates."""
    with closing(sqlite3.connect(shared_system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        for user in people:
            database.execute(
                "INSERT INTO subscriptions (user_id, subscribed_at) VALUES (?, '2026-01-01 00:00:00.000000')",
                (user.id,),
            )
        database.commit()


async def writes(shared_system: System, user: ChatUser, html: str, **more: str) -> None:
    """Write with the app's own formatting; maybe under a photo."""
    await user._remember()
    order = {"from": user.id, "html": html, **more}
    (await shared_system.telegram.post(f"/sandbox/chats/{user.chat_id}/send", json=order)).raise_for_status()


def data_of(message: Json, label: str) -> str:
    rows = message["reply_markup"]["inline_keyboard"]
    return next(str(each["callback_data"]) for row in rows for each in row if label in each["text"])


async def test_a_broadcast_is_written_seen_confirmed_and_listed_by_operators_alone(tmp_path: Path) -> None:
    async with running_system(tmp_path) as shared_system:
        for user, language in ((shared_system.emma, "en"), (shared_system.sari, "id")):
            await user.says("/start")
            await user.sees(like("start.text", language))
        subscribe(shared_system, shared_system.emma, shared_system.sari)
        await is_nothing_to_others(shared_system)
        draft = await is_written_with_its_formatting(shared_system)
        await is_for_whom_is_chosen(shared_system)
        await is_seen_exactly_and_confirmed_once(shared_system, draft)
        await is_scheduled_by_the_operators_clock_and_called_off(shared_system)
        await is_in_the_list(shared_system)
        await has_a_picture_under_which_less_fits(shared_system)


async def is_nothing_to_others(shared_system: System) -> None:
    await shared_system.emma.says("/broadcast")
    await shared_system.emma.sees(like("talk.unknown_command"))
    assert await shared_system.emma.count(like("broadcast.compose")) == 0
    message = (await shared_system.emma.messages())[-1]
    await shared_system.emma.presses(message, "bc:list:0", force=True)
    assert await shared_system.emma.count(LISTED) == 0


async def is_written_with_its_formatting(shared_system: System) -> Json:
    oscar = shared_system.oscar
    await oscar.says("/broadcast")
    draft = await oscar.sees(like("broadcast.compose"))
    assert says(text_of(draft), "broadcast.says_rate", language=ENGLISH)
    await oscar.taps(label("broadcast.text_in", language=name_of("en")))
    await oscar.sees(rf"\{{sats_100k\}} {like('broadcast.variable.sats_100k')}")
    await writes(shared_system, oscar, "now {rats}")
    complaint = await oscar.sees(like("broadcast.unknown_variable", name="{rats}"))
    assert "{rate}, {usdc}" in text_of(complaint)
    await writes(shared_system, oscar, "<b>Hello</b> <i>{rate}</i> & <u>more</u> &lt; {time}")
    shown = await oscar.sees(like("broadcast.says_own", language=ENGLISH))
    assert says(text_of(shown), "broadcast.says_rate", language=INDONESIAN)
    await oscar.says("/broadcast")
    return await oscar.sees(like("broadcast.says_own", language=ENGLISH))


async def is_for_whom_is_chosen(shared_system: System) -> None:
    oscar = shared_system.oscar
    await oscar.taps(label("broadcast.to"))
    await oscar.sees(like("broadcast.people", count=2))
    await oscar.taps(name_of("id"))
    await oscar.sees(f"{like('broadcast.to.readers_of', language=INDONESIAN)}\n👥 {like('broadcast.people', count=1)}")
    await oscar.taps(label("broadcast.readers.all"))
    await oscar.sees(like("broadcast.people", count=2))
    await oscar.taps(text("broadcast.days", count=30))
    await oscar.sees(like("broadcast.active", count=30))
    await oscar.says("0 days")
    await oscar.sees(like("broadcast.days_unread", most=365))
    await oscar.says("14 days")
    await oscar.sees(f"{like('broadcast.to.all')}, {like('broadcast.active', count=14)}")


async def is_seen_exactly_and_confirmed_once(shared_system: System, draft: Json) -> None:
    oscar = shared_system.oscar
    await oscar.taps(label("broadcast.preview"))
    question = await oscar.sees(like("broadcast.confirm"))
    assert f"{text('broadcast.people', count=2)} ({ENGLISH} 1, {INDONESIAN} 1)" in text_of(question)
    preview = await oscar.sees("^Hello Rp[0-9,.]+ & more < ", anywhere=True)
    assert {"bold", "italic", "underline"} <= {entity["type"] for entity in preview["entities"]}
    await oscar.sees("^" + like("broadcast.default", "id"), anywhere=True)
    confirm = data_of(question, text("broadcast.send", count=2))
    await oscar.taps(text("broadcast.send", count=2))
    await oscar.sees(like("broadcast.going"))
    second = await oscar.presses(question, confirm, force=True)
    assert second["text"] == label("broadcast.changed_meanwhile")
    await oscar.presses(draft, data_of(draft, label("broadcast.discard")), force=True)
    assert await oscar.count(like("broadcast.discarded")) == 0


async def is_scheduled_by_the_operators_clock_and_called_off(shared_system: System) -> None:
    oscar = shared_system.oscar
    await oscar.says("/broadcast")
    await oscar.sees(like("broadcast.compose"))
    await oscar.taps(label("broadcast.when"))
    await oscar.sees(like("broadcast.ask_when"))
    await oscar.says("half past never")
    await oscar.sees(like("broadcast.time_unread"))
    await oscar.taps(label("broadcast.daily_other"))
    await oscar.sees(like("broadcast.ask_daily"))
    hour = hour_far_from_now(6, 18)
    await oscar.says(f"{hour}:45")
    await oscar.sees(like("broadcast.daily_at", time=f"{hour:02}:45"))
    await oscar.taps(label("broadcast.preview"))
    await oscar.sees(like("broadcast.quote_later"))
    await oscar.taps(label("broadcast.schedule"))
    await oscar.sees(like("broadcast.scheduled_daily", when=text("broadcast.daily_at", time=f"{hour:02}:45")))
    await oscar.taps(label("broadcast.end_daily"))
    await oscar.sees(like("broadcast.of_rate", sign="⏹", state=text("broadcast.state.stopped")))


async def is_in_the_list(shared_system: System) -> None:
    oscar = shared_system.oscar
    await oscar.says("/broadcasts")
    listed = text_of(await oscar.sees(like("broadcast.list_title", total=2)))
    assert says(listed, "broadcast.fact.called_off")
    await oscar.taps("2")
    await oscar.sees(like("broadcast.fact.by", who="2001"))
    await oscar.taps(label("broadcast.like"))
    await oscar.sees(like("broadcast.says_own", language=ENGLISH))
    await oscar.taps(label("broadcast.discard"))
    await oscar.sees(like("broadcast.discarded"))


async def has_a_picture_under_which_less_fits(shared_system: System) -> None:
    oscar = shared_system.oscar
    await oscar.says("/broadcast")
    await oscar.sees(like("broadcast.no_picture"))
    await oscar.taps(label("broadcast.picture"))
    await oscar.sees(like("broadcast.ask_picture"))
    await oscar.says("a drawing")
    await oscar.sees(like("broadcast.not_a_picture"))
    await oscar.taps(label("broadcast.chart.week"))
    await oscar.sees(like("broadcast.with_chart.week"))
    await oscar.taps(label("broadcast.preview"))
    await oscar.sees(like("broadcast.confirm"))
    charts = [message for message in (await oscar.messages())[-5:] if "photo" in message]
    english, indonesian = map(text_of, charts)
    assert starts(english, "broadcast.default")
    assert starts(indonesian, "broadcast.default", "id")
    await oscar.taps(label("broadcast.change"))
    await oscar.sees(like("broadcast.with_chart.week"))
    await oscar.taps(label("broadcast.text_in", language=name_of("en")))
    await oscar.sees(like("broadcast.ask_text", language=ENGLISH))
    photo = charts[0]["photo"][-1]["file_id"]
    await writes(shared_system, oscar, "<b>" + "x" * 1010 + "</b> {rate}", photo=photo)
    await oscar.sees(like("broadcast.too_long_for_a_picture", limit=1024))
    await writes(shared_system, oscar, "<b>Look</b> {rate}", photo=photo)
    await oscar.sees(like("broadcast.own_picture"))
    await oscar.taps(label("broadcast.preview"))
    await oscar.sees(like("broadcast.confirm"))
    preview = await oscar.sees("^Look Rp")
    assert preview["photo"][-1]["file_id"] == photo
    await oscar.taps(label("broadcast.discard"))
    await oscar.sees(like("broadcast.discarded"))


async def test_a_rate_that_jumped_asks_every_operator_and_one_word_counts(tmp_path: Path) -> None:
    async with running_system(tmp_path, OPERATOR_IDS="2001,1002") as shared_system:
        for user in (shared_system.emma, shared_system.sari):
            await user.says("/start")
            await user.sees(in_any_language("start.text"))
        subscribe(shared_system, shared_system.emma)
        await is_told_to_the_subscriber(shared_system)
        await shared_system.service.keeps_its_quote(btc_idr=1_000_000_000)
        await is_scheduled_with_the_new_rate_in_sight(shared_system)
        come_true(shared_system)
        await waits_for_one_of_both(shared_system)


async def is_told_to_the_subscriber(shared_system: System) -> None:
    oscar = shared_system.oscar
    await oscar.says("/broadcast")
    await oscar.sees(like("broadcast.compose"))
    await oscar.taps(label("broadcast.preview"))
    await oscar.sees(like("broadcast.confirm"))
    await oscar.taps(text("broadcast.send", count=1))
    await oscar.sees(like("broadcast.going"))
    await shared_system.emma.sees(like("broadcast.default"))
    await oscar.sees(like("delivery.done"))


async def is_scheduled_with_the_new_rate_in_sight(shared_system: System) -> None:
    oscar = shared_system.oscar
    await oscar.says("/broadcast")
    await oscar.sees(like("broadcast.compose"))
    await oscar.taps(label("broadcast.when"))
    await oscar.sees(like("broadcast.ask_when"))
    await oscar.says("tomorrow 12:00")
    await oscar.sees("12:00 WIB")
    await oscar.taps(label("broadcast.preview"))
    # The bot asks for the rate once for all who look within some seconds.
    while not (await oscar.sees(like("broadcast.quote_later")) and await oscar.count("= Rp1,000,000,000")):
        await oscar.taps(label("broadcast.change"))
        await oscar.sees(like("broadcast.compose"))
        await oscar.taps(label("broadcast.preview"))
    await oscar.taps(label("broadcast.schedule"))
    await oscar.sees(like("broadcast.scheduled"))


async def waits_for_one_of_both(shared_system: System) -> None:
    oscar, sari = shared_system.oscar, shared_system.sari
    waiting = await oscar.sees(like("broadcast.waits.jumped"), anywhere=True)
    await sari.sees(like("broadcast.waits.jumped", "id"), anywhere=True)
    await sari.taps(label("broadcast.preview", "id"))
    await sari.sees(like("broadcast.confirm", "id"))
    await sari.taps(text("broadcast.send", "id", count=1))
    warned = text_of(await sari.sees(like("broadcast.jumped_down", "id")))
    assert re.search(r"\b3[0-9,]+%", warned)
    assert re.search(r"\bRp1\.[56]", warned)
    await oscar.presses(waiting, data_of(waiting, label("broadcast.preview")), force=True)
    await oscar.sees(like("broadcast.state.waiting"))
    await sari.taps(text("broadcast.send_anyway", "id", count=1))
    await sari.sees(like("broadcast.going", "id"))
    await shared_system.emma.sees("= Rp1,000,000,000", anywhere=True)
    await oscar.presses(waiting, data_of(waiting, label("broadcast.call_off")), force=True)
    await oscar.sees(like("broadcast.fact.by", who="1002"))
    assert await shared_system.emma.count(like("broadcast.default")) == 2


def come_true(shared_system: System) -> None:
    """As if the time of what is scheduled had come."""
    with closing(sqlite3.connect(shared_system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        database.execute("UPDATE broadcasts SET starts_at = ? WHERE status = 'scheduled'", (now,))
        database.commit()
