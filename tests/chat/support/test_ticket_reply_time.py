"""A new ticket shows how soon support usually replies, once there are 20 first replies."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from bot.support.model import CloseReason, TicketStatus
from bot.support.repository import TicketRepository
from tests.chat.system import running_in_process
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_user import text_of
from tests.e2e.new_users import new_user
from tests.e2e.system import System
from tests.support.builders import a_ticket
from tests.texts import label, like, text

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """Start a bot with 20 tickets, each replied to after four minutes and a second."""
    async with running_in_process(tmp_path_factory.mktemp("replies"), SUPPORT_CHAT_ID="0") as made:
        await save_replied_tickets(made, 20, after=timedelta(minutes=4, seconds=1))
        await made.rina.speaks("en")
        await made.rina.says("/start")
        yield made


async def save_replied_tickets(kirim: System, count: int, *, after: timedelta) -> None:
    opened = datetime.now(UTC) - timedelta(days=2)
    ended = {"status": TicketStatus.CLOSED, "closed_at": opened + after, "close_reason": CloseReason.SOLVED}
    async with open_transaction(kirim) as tx:
        for number in range(count):
            known = {"created_at": opened, "first_reply_at": opened + after, "waiting_since": None, **ended}
            assert await TicketRepository(tx).add(a_ticket(f"T-{number:05}", user_id=9001, **known))


async def test_who_writes_to_support_reads_how_soon_it_replies_and_not_on_reopening(kirim: System) -> None:
    emma = await new_user(kirim)
    await emma.says("/help")
    await emma.taps(label("support.button.write_to_us"))
    await emma.sees(like("support.ticket.what_is_wrong"))
    await emma.says("I can't find my receipt")
    taken = await emma.sees(like("support.ticket.is_open"))
    assert text_of(taken).endswith(f"\n\n{text('support.ticket.reply_time', duration='5 minutes')}")
    ticket = next(word for word in text_of(taken).split() if word.startswith("T-"))
    head = await kirim.rina.sees(ticket, anywhere=True)
    await kirim.rina.presses(head, f"tk:{ticket}:closeas:solved", force=True)
    closed = await emma.sees(like("support.ticket.closed_solved"), anywhere=True)
    await emma.says("Still not there", reply_to=closed)
    again = await emma.sees(like("support.ticket.is_open"))
    assert text_of(again).endswith(text("support.ticket.is_open")), "only first replies are measured"
