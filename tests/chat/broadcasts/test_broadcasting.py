"""An operator writes a broadcast, previews and confirms it, and finds it in the list. Others can't."""

from pathlib import Path

from tests.chat.system import running_in_process
from tests.e2e.bot_database import change_rows
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.local_times import hour_far_from_now
from tests.e2e.system import System
from tests.texts import label, like, name_of, says, text

ENGLISH, INDONESIAN = name_of("en"), name_of("id")
LISTED = like("broadcasts.list_title")


async def subscribe(shared_system: System, *people: ChatUser) -> None:
    """Subscribe these users to rate updates, directly in the database."""
    added = "INSERT INTO subscriptions (user_id, subscribed_at) VALUES (?, '2026-01-01 00:00:00.000000')"
    for user in people:
        await change_rows(shared_system, added, (user.id,))


async def send_formatted(shared_system: System, user: ChatUser, html: str, **more: str) -> None:
    """Send a text with the app's own formatting, or as the caption of a photo."""
    await user._remember()
    order = {"from": user.id, "html": html, **more}
    (await shared_system.telegram.post(f"/sandbox/chats/{user.chat_id}/send", json=order)).raise_for_status()


def button_data(message: Json, label: str) -> str:
    rows = message["reply_markup"]["inline_keyboard"]
    return next(str(each["callback_data"]) for row in rows for each in row if label in each["text"])


async def test_a_broadcast_is_written_seen_confirmed_and_listed_by_operators_alone(tmp_path: Path) -> None:
    async with running_in_process(tmp_path) as shared_system:
        for user, language in ((shared_system.emma, "en"), (shared_system.sari, "id")):
            await user.says("/start")
            await user.sees(like("home.start.text", language))
        await subscribe(shared_system, shared_system.emma, shared_system.sari)
        await check_that_others_see_nothing(shared_system)
        draft = await write_with_formatting(shared_system)
        await choose_the_audience(shared_system)
        await preview_and_confirm_once(shared_system, draft)
        await schedule_and_cancel(shared_system)
        await look_at_the_list(shared_system)


async def check_that_others_see_nothing(shared_system: System) -> None:
    await shared_system.emma.says("/broadcast")
    await shared_system.emma.sees(like("checkout.chat.unknown_command"))
    assert await shared_system.emma.count(like("broadcasts.compose")) == 0
    message = (await shared_system.emma.messages())[-1]
    await shared_system.emma.presses(message, "bc:list:0", force=True)
    assert await shared_system.emma.count(LISTED) == 0


async def write_with_formatting(shared_system: System) -> Json:
    oscar = shared_system.oscar
    await oscar.says("/broadcast")
    draft = await oscar.sees(like("broadcasts.compose"))
    assert says(text_of(draft), "broadcasts.says_rate", language=ENGLISH)
    await oscar.taps(label("broadcasts.text_in", language=name_of("en")))
    await oscar.sees(rf"\{{sats_100k\}} {like('broadcasts.variable.sats_100k')}")
    await send_formatted(shared_system, oscar, "now {rats}")
    complaint = await oscar.sees(like("core.template.unknown_variable", name="{rats}"))
    assert "{rate}, {usdc}" in text_of(complaint)
    await send_formatted(shared_system, oscar, "<b>Hello</b> <i>{rate}</i> & <u>more</u> &lt; {time}")
    shown = await oscar.sees(like("broadcasts.says_own", language=ENGLISH))
    assert says(text_of(shown), "broadcasts.says_rate", language=INDONESIAN)
    await oscar.says("/broadcast")
    return await oscar.sees(like("broadcasts.says_own", language=ENGLISH))


async def choose_the_audience(shared_system: System) -> None:
    oscar = shared_system.oscar
    await oscar.taps(label("broadcasts.to"))
    await oscar.sees(like("broadcasts.people", count=2))
    await oscar.taps(name_of("id"))
    await oscar.sees(
        f"{like('broadcasts.to.readers_of', language=INDONESIAN)}\n👥 {like('broadcasts.people', count=1)}"
    )
    await oscar.taps(label("broadcasts.readers.all"))
    await oscar.sees(like("broadcasts.people", count=2))
    await oscar.taps(text("broadcasts.days", count=30))
    await oscar.sees(like("broadcasts.active", count=30))
    await oscar.says("0 days")
    await oscar.sees(like("core.template.days_unread", most=365))
    await oscar.says("14 days")
    await oscar.sees(f"{like('broadcasts.to.all')}, {like('broadcasts.active', count=14)}")


async def preview_and_confirm_once(shared_system: System, draft: Json) -> None:
    oscar = shared_system.oscar
    await oscar.taps(label("broadcasts.preview"))
    question = await oscar.sees(like("broadcasts.confirm"))
    assert f"{text('broadcasts.people', count=2)} ({ENGLISH} 1, {INDONESIAN} 1)" in text_of(question)
    preview = await oscar.sees("^Hello Rp[0-9,.]+ & more < ", anywhere=True)
    assert {"bold", "italic", "underline"} <= {entity["type"] for entity in preview["entities"]}
    await oscar.sees("^" + like("broadcasts.default", "id"), anywhere=True)
    confirm = button_data(question, text("broadcasts.send", count=2))
    await oscar.taps(text("broadcasts.send", count=2))
    await oscar.sees(like("broadcasts.going"))
    second = await oscar.presses(question, confirm, force=True)
    assert second["text"] == label("broadcasts.changed_meanwhile")
    await oscar.presses(draft, button_data(draft, label("broadcasts.discard")), force=True)
    assert await oscar.count(like("broadcasts.discarded")) == 0


async def schedule_and_cancel(shared_system: System) -> None:
    oscar = shared_system.oscar
    await oscar.says("/broadcast")
    await oscar.sees(like("broadcasts.compose"))
    await oscar.taps(label("broadcasts.when"))
    await oscar.sees(like("broadcasts.ask_when"))
    await oscar.says("half past never")
    await oscar.sees(like("core.template.time_unread"))
    await oscar.taps(label("broadcasts.daily_other"))
    await oscar.sees(like("broadcasts.ask_daily"))
    hour = hour_far_from_now(6, 18)
    await oscar.says(f"{hour}:45")
    await oscar.sees(like("broadcasts.daily_at", time=f"{hour:02}:45"))
    await oscar.taps(label("broadcasts.preview"))
    await oscar.sees(like("broadcasts.quote_later"))
    await oscar.taps(label("broadcasts.schedule"))
    await oscar.sees(like("broadcasts.scheduled_daily", when=text("broadcasts.daily_at", time=f"{hour:02}:45")))
    await oscar.taps(label("broadcasts.end_daily"))
    await oscar.sees(like("broadcasts.of_rate", sign="⏹", state=text("broadcasts.state.stopped")))


async def look_at_the_list(shared_system: System) -> None:
    oscar = shared_system.oscar
    await oscar.says("/broadcasts")
    listed = text_of(await oscar.sees(like("broadcasts.list_title", total=2)))
    assert says(listed, "broadcasts.fact.called_off")
    await oscar.taps("2")
    await oscar.sees(like("broadcasts.fact.by", who="Oscar"))
    await oscar.taps(label("broadcasts.like"))
    await oscar.sees(like("broadcasts.says_own", language=ENGLISH))
    await oscar.taps(label("broadcasts.discard"))
    await oscar.sees(like("broadcasts.discarded"))
