"""Presses that arrive after later messages, and messages that arrive after later presses, behind a webhook.

Telegram keeps them in different queues. Each is handled or explained, and none is done twice.
"""

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

import httpx
import pytest
import pytest_asyncio

from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import DESTINATION_QUESTION, review_pattern
from tests.e2e.system import System, running_system
from tests.ports import free_port
from tests.texts import label, like
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

LATE = like("users.chat.late")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    port = str(free_port())
    webhook = {"RECEIVE": "webhook", "PUBLIC_URL": f"http://127.0.0.1:{port}", "HTTP_PORT": port}
    async with running_system(tmp_path_factory.mktemp("webhook"), **webhook) as made:
        yield made


@asynccontextmanager
async def held_back(kirim: System, kind: str) -> AsyncIterator[None]:
    """Hold back what is sent within the block. After it, all of that arrives."""
    held = {f"hold_{kind}_at_least": 3600}
    (await kirim.telegram.post("/sandbox/deliveries", json=held)).raise_for_status()
    yield
    (await kirim.telegram.delete("/sandbox/deliveries")).raise_for_status()


async def go_to_holder_question(user: ChatUser) -> None:
    await user.says("/send")
    await user.sees(DESTINATION_QUESTION)
    await user.says("bca")
    await user.sees(like("checkout.number.ask_bank"))
    await user.says("1234567890")
    await user.sees(like("checkout.holder.ask"))


async def answer_to(kirim: System, press: Json) -> str:
    """Wait for the answer to a press, and return its text."""
    # A stream without an end needs a real connection, which can be closed.
    connected = httpx.AsyncClient(base_url=kirim.addresses.page, timeout=TIMEOUT_SECONDS)
    async with (
        asyncio.timeout(TIMEOUT_SECONDS),
        connected,
        connected.stream("GET", "/sandbox/events", params={"after": 0}) as stream,
    ):
        async for line in stream.aiter_lines():
            event = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
            if event.get("query_id") == press["query_id"]:
                return str(event["text"])
    raise AssertionError("the stream of events has ended")


def read_database(kirim: System, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(kirim.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        return database.execute(statement, values).fetchall()


async def test_a_press_after_the_answer_that_followed_it_is_explained_and_the_answer_stays(kirim: System) -> None:
    user = await new_user(kirim)
    await go_to_holder_question(user)
    async with held_back(kirim, "presses"):
        press = await user.taps(label("checkout.holder.skip"), wait=0)
        await user.says("Budi Santoso")
        await user.sees(like("checkout.amount.ask"))
    assert await answer_to(kirim, press) == label("users.stale.button")
    await user.sees_times(1, like("checkout.amount.ask"))
    await user.says("500rb")
    await user.sees(review_pattern(number="1234567890", holder="Budi Santoso"))


async def test_an_answer_after_the_press_that_followed_it_is_not_taken_for_the_next_question(kirim: System) -> None:
    user = await new_user(kirim)
    await go_to_holder_question(user)
    async with held_back(kirim, "messages"):
        await user.says("500000")  # a mistake, so the user skips the question
        await user.taps(label("checkout.holder.skip"))
        await user.sees(like("checkout.amount.ask"))
    late = await user.sees(LATE, anywhere=True)
    assert re.search(like("checkout.amount.ask"), text_of(late)), "the open question is shown again"
    await user.says("600rb")
    await user.sees(review_pattern(amount="Rp600,000"))


async def test_text_from_before_a_question_is_not_its_answer(kirim: System) -> None:
    user = await new_user(kirim)
    await user.says("/help")
    await user.sees(like("support.help.text"))
    async with held_back(kirim, "messages"):
        await user.says("thank you")
        await user.taps(label("support.button.write_to_us"))
        await user.sees(like("support.ticket.what_is_wrong"))
    await user.sees(LATE, anywhere=True)
    await user.says("Where is my money?")

    async def has_ticket() -> bool:
        return bool(read_database(kirim, "SELECT 1 FROM tickets WHERE user_id = ?", user.id))

    await until(has_ticket)
