"""Newcomers: persons whom the bot has never met, so that stories in one world don't meet one another."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

from bot.recipients.formatting import group_digits
from bot.sandbox.bot_api.settings import default_people
from tests.e2e.world import Chatter, Json, World, words_of
from tests.texts import label, like
from tests.waiting import TIMEOUT_SECONDS, found

WHERE = f"{like('destination.ask')}|{like('destination.ask_again')}"
"""The question for a destination; people who have sent before are offered their recipients with it."""


def reviewed(locale: str = "en", **figures: object) -> str:
    """Return a regular expression for the review of an order with these figures: `amount`, `bank`, `number`, `holder`.

    Figures that aren't given match anything; the others match whole. `number` is given without spaces.
    """
    if "number" in figures:
        figures["number"] = group_digits(str(figures["number"]))
    return f"{like('review.title', locale)}\n\n{like('review.figures', locale, **figures)}"


class Newcomer(Chatter):
    """A person with a few more senses."""

    async def reads(self, *, last: int = 1) -> list[str]:
        """The newest messages' words."""
        return [words_of(message) for message in (await self.messages())[-last:]]

    async def button(self, label: str) -> tuple[Json, str]:
        """The newest message with this button, and the button's data: to be pressed when its time has passed."""
        message, button = await self._find_button(label, None)
        return message, str(button["callback_data"])

    async def labels_of(self, message: Json) -> list[str]:
        """The buttons of a message as it is now."""
        for current in await self.messages():
            if current["message_id"] == message["message_id"]:
                rows = (current.get("reply_markup") or {}).get("inline_keyboard", [])
                return [button["text"] for row in rows for button in row]
        return []

    async def sends_a_sticker(self) -> None:
        """What the bot can't read."""
        await self._remember()
        answer = await self._http.post(f"/sandbox/chats/{self.chat_id}/send", json={"from": self.id, "sticker": True})
        answer.raise_for_status()

    async def scans(self, message: Json) -> bytes:
        """The picture of a message."""
        answer = await self._http.get(f"/sandbox/files/{message['photo'][-1]['file_id']}")
        return answer.raise_for_status().content


async def newcomer(world: World, language: str | None = "en") -> Newcomer:
    """Somebody new whose app speaks `language`."""
    about = {"first_name": "Newcomer", "language_code": language, "role": "sender"}
    answer = await world.telegram.post("/sandbox/people", json=about)
    return Newcomer(world.telegram, answer.raise_for_status().json()["id"])


STAFF = [user for user in default_people() if user.role != "sender"]
CALM: Json = {
    "speedSeconds": None,
    "invoiceExpirySeconds": 3600,
    "lockedPricePercent": 0,
    "wrongInvoice": None,
    "wrongDeposit": None,
    "dailyCapIdr": None,
}
KEPT_BY_THE_BOT: Json = {
    "profile": "documented",
    "configured": True,
    "quoteCacheSeconds": None,
    "methodsCacheSeconds": None,
}
"""What the bot remembers the answers of for up to a minute, so that a story after the one that changed it meets it."""


async def calm(world: World) -> None:
    """The service and Telegram as on a good day; staff with their languages.

    Raises:
        AssertionError: the story changed what the bot keeps for a while: it needs a world of its own.
    """
    await world.service.heals()
    await world.telegram_heals()
    await world.service.does("settings", **CALM)
    assert await _not_as_usual(world) == {}, "a story that changes this needs a world of its own"
    for user in STAFF:
        await Chatter(world.telegram, user.id).speaks(user.language_code)


async def _not_as_usual(world: World) -> Json:
    """What the bot remembers of the service and a story has changed; it is as usual again afterwards."""
    settings: Json = (await world.control.get("/control/settings")).raise_for_status().json()
    changed = {name: settings[name] for name, usual in KEPT_BY_THE_BOT.items() if settings[name] != usual}
    await world.service.does("settings", **KEPT_BY_THE_BOT)
    listed = await world.service.methods()
    await world.service.lists_all_methods()
    return changed if listed == await world.service.methods() else {**changed, "methods": len(listed)}


def row_of(world: World, order: Json) -> dict[str, object]:
    """What the bot has written down about an order of the service."""
    with closing(sqlite3.connect(world.state / "kirim.db")) as database:
        database.row_factory = sqlite3.Row
        row = database.execute("SELECT * FROM orders WHERE service_id = ?", (order["id"],)).fetchone()
    return dict(row) if row else {}


async def order_of(world: World, user: Chatter) -> Json:
    """The newest order of this person, as the service has it. The bot's own row says which: others order as well."""

    async def service_id() -> str | None:
        newest = "SELECT service_id FROM orders WHERE user_id = ? ORDER BY created_at DESC LIMIT 1"
        with closing(sqlite3.connect(world.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
            row = database.execute(newest, (user.id,)).fetchone()
        return str(row[0]) if row and row[0] else None

    return await world.service.order(str(await found(service_id, bool, what=f"an order of {user.id}")))


async def expires(world: World, order: Json) -> None:
    """Let the time to pay an order be over, by the service's clock and by the bot's."""
    await world.service.does("expire", orderId=order["id"])
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
    with closing(sqlite3.connect(world.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        # Another version: what the bot has read before must not be written over this.
        changed = database.execute(
            "UPDATE orders SET expires_at = :now, next_poll_at = :now, version = version + 1 WHERE service_id = :id",
            {"now": now, "id": order["id"]},
        ).rowcount
        database.commit()
    assert changed == 1


async def bot_knows(world: World, order: Json, **facts: object) -> None:
    """Wait until the bot has written these facts about an order down."""

    async def row() -> dict[str, object]:
        return row_of(world, order)

    await found(row, lambda known: facts.items() <= known.items(), what=str(facts))


async def could_not_be_told(world: World, user: Chatter) -> None:
    """Wait until the bot has given up the notifications of this chat, all that there are."""
    await _notifications_become(world, user.chat_id, {"undeliverable"})


async def all_is_told(world: World, user: Chatter) -> None:
    """Wait until the bot has saved that it sent all notifications of this chat: a kill repeats none."""
    await _notifications_become(world, user.chat_id, set())


async def _notifications_become(world: World, chat_id: int, wished: set[str]) -> None:
    known = "SELECT DISTINCT status FROM outbox WHERE chat_id = ? AND status != 'sent'"

    async def statuses() -> set[str]:
        with closing(sqlite3.connect(world.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
            return {status for (status,) in database.execute(known, (chat_id,))}

    await found(statuses, lambda now: now == wished, what=f"{wished or 'sent'} in the outbox")


def let_drafts_lapse(world: World, user: Chatter) -> None:
    """Make it seem that this person has been quiet for longer than a draft waits."""
    with closing(sqlite3.connect(world.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        changed = database.execute(
            "UPDATE drafts SET expires_at = '2026-01-01 00:00:00.000000' WHERE chat_id = ? AND status = 'open'",
            (user.id,),
        ).rowcount
        database.commit()
    assert changed == 1


async def taps_to_review(user: Chatter, *, amount: str = "Rp500,000", number: str = "1234567890") -> Json:
    """The quick way to a review, mostly by buttons, in English: BCA, no name."""
    await user.says("/send")
    await user.sees(WHERE)
    await user.taps("BCA")
    await user.sees(like("number.ask_bank"))
    await user.says(number)
    await user.sees(like("holder.ask"))
    await user.taps(label("holder.skip"))
    await user.sees(like("amount.ask"))
    await user.taps(amount)
    return await user.sees(like("review.title"))


async def taps_to_invoice(world: World, user: Chatter, *, number: str = "1234567890") -> tuple[Json, Json]:
    """On to the card; its message, and the service's order."""
    await taps_to_review(user, number=number)
    await user.taps(label("review.confirm"))
    card = await user.sees(like("card.pay_before"))
    return card, await order_of(world, user)


async def completes(world: World, order: Json) -> None:
    """The service moves a paid order to its end."""
    while (await world.service.does("advance", orderId=order["id"]))["order"]["state"] != "COMPLETED":
        pass
