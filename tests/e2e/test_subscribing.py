"""News of the rate: asked for by taps and by words, told at its hour and at its price, and ended in one tap."""

import asyncio
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.e2e.people import Newcomer, newcomer
from tests.e2e.trouble import calls_of, held, killed_and_restarted
from tests.e2e.world import LOOK_EVERY, PATIENCE, Json, World, words_of, world

pytestmark = pytest.mark.asyncio(loop_scope="session")


def executed(town: World, statement: str, *values: object) -> list[tuple[object, ...]]:
    """What the bot has written down, or what time has made of it."""
    with closing(sqlite3.connect(town.state / "kirim.db", timeout=10)) as database:
        found = database.execute(statement, values).fetchall()
        database.commit()
    return found


def daily_falls_due(town: World, person: Newcomer, *, ago: timedelta = timedelta()) -> None:
    due = (datetime.now(UTC) - ago).strftime("%Y-%m-%d %H:%M:%S.%f")
    executed(town, "UPDATE subscriptions SET next_daily_at = ? WHERE person_id = ?", due, person.id)


def price_comes(town: World, person: Newcomer) -> None:
    """The bot has recorded the price that this person's alert waits for."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    (rate,) = executed(town, "SELECT threshold FROM rate_alerts WHERE person_id = ? AND is_above", person.id)[0]
    executed(town, "INSERT INTO quotes (fetched_at, btc_idr, source) VALUES (?, ?, 'test')", now, rate)


def wishes_of(town: World, person: Newcomer) -> tuple[int, int]:
    """Subscriptions and alerts."""
    (subscribed,) = executed(town, "SELECT count(*) FROM subscriptions WHERE person_id = ?", person.id)[0]
    (alerts,) = executed(town, "SELECT count(*) FROM rate_alerts WHERE person_id = ?", person.id)[0]
    return int(str(subscribed)), int(str(alerts))


async def opens(person: Newcomer, settings: str, rate_news: str) -> Json:
    await person.says("/settings")
    await person.sees(settings)
    await person.taps(rate_news)
    return await person.sees("🗂")


async def test_people_hear_of_the_rate_as_they_wish(town: World) -> None:
    await asyncio.gather(
        daily_by_a_tap_and_by_words(town),
        asked_for_under_the_rate(town),
        alert_set_once_however_often_tapped_and_rung(town),
        stopped_in_one_tap_from_the_news_itself(town),
        unsubscribed_by_blocking(town),
        forged_buttons_do_nothing(town),
        all_of_it_seen_and_deleted(town),
    )


async def test_kill_9_while_telling_repeats_an_alert_and_no_daily_quote(tmp_path: Path) -> None:
    async with world(tmp_path) as kirim:
        emma, sari = await newcomer(kirim), await newcomer(kirim)
        for person in (emma, sari):
            await opens(person, "Settings", "Rate news")
        await emma.taps("Daily quote")
        await emma.taps("08:00")
        await emma.sees("each day at 08:00")
        await sari.taps("Price alert")
        await sari.taps("+5%")
        await sari.taps("Once · 30 days")
        await sari.sees("You will hear when 1 BTC is above")
        calls = calls_of(kirim, "sendMessage")
        async with held(calls, emma, "delay_after"):
            daily_falls_due(kirim, emma)
        async with held(calls, sari, "delay_after"):
            price_comes(kirim, sari)
        await killed_and_restarted(kirim)
        await sari.sees("1 BTC is above(.|\n)*Repeated, since we can't be sure", anywhere=True)
        assert [await emma.count("Today's rate"), await sari.count("🔔 1 BTC is above")] == [1, 2]
        assert wishes_of(kirim, sari) == (1, 0)
        ((due,),) = executed(kirim, "SELECT next_daily_at FROM subscriptions WHERE person_id = ?", emma.id)
        assert str(due) > datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")


async def daily_by_a_tap_and_by_words(town: World) -> None:
    emma = await newcomer(town)
    await opens(emma, "Settings", "Rate news")
    await emma.sees("All of it is off", anywhere=True)
    await emma.taps("Daily quote")
    await emma.sees("When shall the daily quote come")
    await emma.says("tomorrow")
    await emma.sees("I can't read a time there(.|\n)*When shall")
    await emma.says("7 pm")
    await emma.sees("Daily quote: each day at 19:00 WIB")
    await emma.taps("Daily quote")
    await emma.taps("06:00")
    await emma.sees("Daily quote: each day at 06:00 WIB")
    await emma.taps("Quiet hours")
    await emma.sees("When shall it be quiet")
    await emma.says("0:00-23:59")
    await emma.sees("Quiet hours: 00:00–23:59")  # noqa: RUF001  a dash
    daily_falls_due(town, emma)
    told = await emma.sees("Today's rate(.|\n)*1 BTC = Rp(.|\n)*Rp1,000,000 ≈")
    assert told["sandbox"]["silent"]
    assert await emma.count("Today's rate") == 1
    await emma.taps("My rate news", message=told)
    await emma.sees("Daily quote: each day at 06:00 WIB")
    assert await emma.count("Today's rate") == 1
    await emma.taps("Daily quote")
    await emma.taps("No daily quote")
    await emma.sees("Daily quote: none")


async def asked_for_under_the_rate(town: World) -> None:
    sari = await newcomer(town, "id")
    await sari.says("/rate")
    picture = await sari.sees("1 BTC = Rp")
    _, stop = await sari.button("Hentikan semua")
    await sari.taps("Kurs harian")
    await sari.sees("Kurs harian dikirim pukul berapa")
    await sari.says("jam 8 malam")
    await sari.sees("Kurs harian: setiap hari pukul 20.00 WIB")
    still = await sari.finds(picture)
    assert still is not None
    assert "1 BTC = Rp" in words_of(still)
    assert wishes_of(town, sari) == (1, 0)
    await asyncio.gather(*(sari.presses(picture, stop, force=True) for _ in range(2)))
    await sari.sees("Tidak ada lagi kabar kurs", anywhere=True)
    assert await sari.count("Tidak ada lagi kabar kurs") == 1
    assert wishes_of(town, sari) == (0, 0)


async def alert_set_once_however_often_tapped_and_rung(town: World) -> None:
    sari = await newcomer(town, "id")
    await opens(sari, "Pengaturan", "Kabar kurs")
    await sari.taps("Alarm harga")
    await sari.sees("mencapai harga berapa")
    await sari.says("dua sapi")
    await sari.sees("tidak terbaca(.|\n)*mencapai harga berapa")
    await sari.says("+40%")
    shown = await sari.sees("Kabari saat 1 BTC di atas Rp")
    _, once = await sari.button("Sekali · 30 hari")
    await asyncio.gather(*(sari.presses(shown, once, force=True) for _ in range(2)))
    await sari.sees(r"• ▲ Rp[\d.]+ · Sekali · sampai", anywhere=True)
    await sari.taps("Alarm harga")
    await sari.taps("−2%")  # noqa: RUF001  a minus
    await sari.sees("di bawah Rp")
    await sari.taps("Tiap 6 jam · 90 hari")
    await sari.sees(r"• ▼ Rp[\d.]+ · Tiap 6 jam")
    assert wishes_of(town, sari) == (1, 2)
    price_comes(town, sari)
    rung = await sari.sees("🔔 1 BTC di atas Rp(.|\n)*Alarm ini sudah selesai")
    executed(town, "DELETE FROM quotes WHERE source = 'test'")
    assert wishes_of(town, sari) == (1, 1)
    await sari.taps("Kabar kursku", message=rung)
    await sari.sees("Alarm:")
    await sari.taps("🗑")
    await sari.sees("Alarm: tidak ada")
    assert wishes_of(town, sari) == (1, 0)


async def stopped_in_one_tap_from_the_news_itself(town: World) -> None:
    emma = await newcomer(town)
    await opens(emma, "Settings", "Rate news")
    await emma.taps("Daily quote")
    await emma.taps("08:00")
    await emma.sees("each day at 08:00")
    daily_falls_due(town, emma)
    told = await emma.sees("Today's rate")
    _, end = await emma.button("Stop everything")
    for _ in range(2):
        await emma.presses(told, end, force=True)
    await emma.sees("Stopped. No more news of the rate", anywhere=True)
    assert await emma.count("Stopped. No more news") == 1
    assert await emma.count("Today's rate") == 1
    assert wishes_of(town, emma) == (0, 0)


async def unsubscribed_by_blocking(town: World) -> None:
    emma = await newcomer(town)
    await opens(emma, "Settings", "Rate news")
    await emma.taps("Daily quote")
    await emma.taps("08:00")
    await emma.sees("each day at 08:00")
    await emma.blocks()
    await _until_gone(town, emma)
    await emma.blocks(blocked=False)


async def forged_buttons_do_nothing(town: World) -> None:
    emma = await newcomer(town)
    shown = await opens(emma, "Settings", "Rate news")
    forged = ("sub:time:1440", "sub:hush:5-5", "sub:set:a:1:0", "sub:at:1", "sub:at:x", "sub:nothing")
    for data in forged:
        await emma.presses(shown, data, force=True)
        await emma.sees("That button belongs to an older message")
    assert wishes_of(town, emma) == (0, 0)


async def all_of_it_seen_and_deleted(town: World) -> None:
    emma = await newcomer(town)
    await opens(emma, "Settings", "Rate news")
    await emma.taps("Daily quote")
    await emma.taps("21:00")
    await emma.sees("each day at 21:00")
    await emma.says("/privacy")
    await emma.taps("See")
    await emma.sees("News of the rate: daily quote 21:00, alerts: 0")
    await emma.says("/privacy")
    await emma.taps("Delete everything")
    await emma.sees("Delete everything\\?")
    await emma.taps("Yes")
    await emma.sees("eleted")
    await _until_gone(town, emma)


async def _until_gone(town: World, person: Newcomer) -> None:
    deadline = time.monotonic() + PATIENCE
    while (left := wishes_of(town, person)) != (0, 0):
        assert time.monotonic() < deadline, left
        await asyncio.sleep(LOOK_EVERY)
