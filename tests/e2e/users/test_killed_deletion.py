"""The user's own data: shown, exported, and removed from the database's files when nothing is open."""

import re

import pytest

from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, type_to_invoice, type_to_review
from tests.e2e.system import running_system
from tests.e2e.users.own_data import asks_to_be_deleted, becomes_unknown
from tests.infra.on_disk import find_texts
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_kill_9_around_the_deletion_leaves_nobody_half_forgotten(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async with running_system(tmp_path_factory.mktemp("leaving")) as kirim:
        emma, number = await new_user(kirim), "7731006611"
        await type_to_review(emma, number=number)
        await asks_to_be_deleted(emma)
        async with hold_call(calls_of(kirim, "editMessageText"), emma):
            await emma.taps(label("users.privacy.yes"), wait=0)
        await kill_and_restart(kirim)
        await emma.sees(like("users.privacy.deleted"), anywhere=True)
        await becomes_unknown(kirim, emma)
        assert find_texts(kirim.state / "kirim.db", [number]) == {}

        sari = await new_user(kirim)
        _, order = await type_to_invoice(kirim, sari, number="7731006622")
        await asks_to_be_deleted(sari)
        await sari.taps(label("users.privacy.yes"))
        await sari.sees(like("users.privacy.noted"))
        await kirim.kill_bot()
        await kirim.service.pays(order)
        await complete_order(kirim, order)
        await kirim.start_bot()
        await sari.sees(like("users.privacy.deleted"), anywhere=True)
        assert await sari.count(like("orders.notification.sent_bank")) == 1
        await becomes_unknown(kirim, sari)
        log = kirim.log.read_text()
        assert not re.search("77310066[12]{2}", log)
