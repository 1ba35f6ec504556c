"""A payment reminder around kill -9: it is repeated once and says so, and its next day is saved."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.e2e.bot_database import change_rows
from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.rates.rate_updates import selected
from tests.e2e.system import running_system
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_kill_9_while_it_is_sent_repeats_it_once_with_a_remark(tmp_path: Path) -> None:
    async with running_system(tmp_path) as kirim:
        emma = await new_user(kirim)
        await tap_to_invoice(kirim, emma)
        await emma.says("/recipients")
        await emma.taps("BCA ••••7890")
        await emma.taps(label("recipients.remind"))
        await emma.taps("Friday")
        await emma.sees(like("payment_reminders.set"))
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        await change_rows(kirim, "INSERT INTO subscriptions (user_id, subscribed_at) VALUES (?, ?)", (emma.id, now))
        async with hold_call(calls_of(kirim, "sendMessage"), emma, "delay_after"):
            await change_rows(kirim, "UPDATE payment_reminders SET due_at = ? WHERE user_id = ?", (now, emma.id))
        await kill_and_restart(kirim)
        due = like("payment_reminders.due")
        await emma.sees(f"{due}(.|\n)*{like('infra.outbox.again')}", anywhere=True)
        assert await emma.count(due) == 2
        ((next_due, unanswered),) = selected(kirim, "SELECT due_at, unanswered FROM payment_reminders")
        assert str(next_due) > now
        assert unanswered == 1
