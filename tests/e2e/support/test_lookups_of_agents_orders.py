"""An AI agent creates an order with the same API key. Support finds it by its service ID, masked and marked."""

from pathlib import Path

import pytest

from tests.e2e.chat_user import Json
from tests.e2e.orders.steps import complete_order
from tests.e2e.processes.tool_server import running_tool_server, tool_settings
from tests.e2e.support.lookups import lookups_in_audit_log, open_rinas_chat
from tests.e2e.system import System
from tests.texts import label, like, says, text

session_loop = pytest.mark.asyncio(loop_scope="session")
NUMBER, HOLDER = "0987650432", "Wulandari Kusumaningrum"
BCA = {"partnerBankCode": "014", "partnerBankName": "BANK CENTRAL ASIA"}


async def order_of_an_agent(system: System, folder: Path) -> Json:
    """Create an order with the tools for agents, and return the service's record."""
    settings = tool_settings(system.environment["SERVICE_BASE_URL"])
    async with running_tool_server(folder, settings) as tools, tools.client() as client:
        wanted = {**BCA, "recipientDetails": NUMBER, "bankAccountName": HOLDER, "idrAmount": 150_000}
        created = await client.call_tool("create_offramp_order", wanted)
        assert not created.is_error
        assert created.structured_content is not None
        order_id = created.structured_content["orderId"]
    return await system.service.order(order_id)


@session_loop
@pytest.mark.parametrize("language", ["en", "id"])
async def test_an_agents_order_is_found_masked_and_marked(shared_system: System, tmp_path: Path, language: str) -> None:
    order = await order_of_an_agent(shared_system, tmp_path)
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    rina = await open_rinas_chat(shared_system, language)
    for command in ("/order", "/find"):
        await rina.says(f"{command} {order['id']}")
        page = await rina.sees(like("support.service_order.not_ours", language))
        assert says(page["text"], "support.case.service_id", language, id=order["id"])
        assert text("orders.status.sent", language) in page["text"]
        assert "BCA ••••0432" in page["text"]
        assert NUMBER not in str(page)
        assert HOLDER not in str(page)
    await rina.taps(label("support.evidence.button", language), message=page)
    evidence = await rina.sees(like("support.evidence.heading", language))
    assert evidence["message_id"] == page["message_id"], "read in one message"
    assert text("orders.payout_reference.name", language) in evidence["text"]
    await rina.taps(label("support.service_order.back", language), message=evidence)
    page = await rina.sees(like("support.service_order.not_ours", language))
    assert [subject for _, subject, _ in lookups_in_audit_log(shared_system) if order["id"] in subject] == [
        f"service_order:{order['id']}",
        f"service_order:{order['id']}",
        f"evidence:{order['id']}",
        f"service_order:{order['id']}",
    ]
    assert says(page["text"], "support.service_order.masked", language), "as the API document says"
    assert label("support.reveal.button", language) not in await rina.labels_of(page)
    await shared_system.service.does("settings", profile="live")
    await rina.taps(label("orders.button.refresh", language), message=page)
    page = await rina.waits_for(lambda each: f"rv:@{order['id']}:ask" in str(each), anywhere=True, what="the button")
    await rina.taps(label("support.reveal.button", language), message=page)
    question = await rina.sees(like("support.reveal.ask", language))
    await rina.taps(label("support.reveal.reason_trace", language), message=question)
    shown = await rina.sees(like("support.reveal.shown_named", language, number=NUMBER, holder=HOLDER))
    await shared_system.service.does("settings", profile="documented")
    assert shown["has_protected_content"]
    await rina.taps(label("support.reveal.hide", language), message=shown)
    masked = await rina.sees(like("support.reveal.masked", language))
    assert NUMBER not in str(masked)
