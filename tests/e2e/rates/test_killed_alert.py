"""Rate updates: set by buttons and by typing, sent at their hour and at their price, and ended in one tap."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.new_users import new_user
from tests.e2e.rates.rate_updates import (
    DAILY,
    condition,
    daily_falls_due,
    opens,
    price_comes,
    selected,
    takes_a_daily_quote,
    updates_of,
)
from tests.e2e.system import running_system
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="session")


ABOVE = condition("above")
RINGS = like("rates.subscription.rings", condition=ABOVE)


async def test_kill_9_while_telling_repeats_an_alert_and_no_daily_quote(tmp_path: Path) -> None:
    async with running_system(tmp_path) as kirim:
        emma, sari = await new_user(kirim), await new_user(kirim)
        for user in (emma, sari):
            await opens(user)
        await takes_a_daily_quote(emma)
        await sari.taps(label("rates.subscription.alert"))
        await sari.taps("+5%")
        await sari.taps(label("rates.subscription.for_days", how=label("rates.subscription.once"), days="30"))
        await sari.sees(like("rates.subscription.alert_set", condition=ABOVE))
        calls = calls_of(kirim, "sendMessage")
        async with hold_call(calls, emma, "delay_after"):
            await daily_falls_due(kirim, emma)
        async with hold_call(calls, sari, "delay_after"):
            await price_comes(kirim, sari)
        await kill_and_restart(kirim)
        await sari.sees(f"{RINGS}(.|\n)*{like('infra.outbox.again')}", anywhere=True)
        assert [await emma.count(DAILY), await sari.count(RINGS)] == [1, 2]
        assert updates_of(kirim, sari) == (1, 0)
        ((due,),) = selected(kirim, "SELECT next_daily_at FROM subscriptions WHERE user_id = ?", emma.id)
        assert str(due) > datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
