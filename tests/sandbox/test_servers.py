"""The two servers as `python -m bot sandbox` starts them."""

from pathlib import Path

import httpx
import pytest

from bot.sandbox.run import SandboxOptions, bot_environment, servers


async def test_a_dropped_connection_is_closed_without_an_answer_on_both_servers(tmp_path: Path) -> None:
    options = SandboxOptions(state=tmp_path, page_port=0, service_port=0)
    async with servers(options) as addresses, httpx.AsyncClient() as http:
        environment = bot_environment(tmp_path, addresses)
        await http.post(f"{addresses.service}/control/faults", json={"fault": "drop_before", "times": 1})
        with pytest.raises(httpx.RemoteProtocolError):
            await http.get(
                f"{addresses.service}/v1/quote/btc-idr", headers={"x-api-key": environment["SERVICE_API_KEY"]}
            )
        await http.post(f"{addresses.page}/sandbox/faults", json={"fault": "drop_before", "times": 1})
        with pytest.raises(httpx.RemoteProtocolError):
            await http.get(f"{addresses.page}/bot{environment['TELEGRAM_BOT_TOKEN']}/getMe")


async def test_both_servers_answer_once_nothing_is_wrong(tmp_path: Path) -> None:
    options = SandboxOptions(state=tmp_path, page_port=0, service_port=0)
    async with servers(options) as addresses, httpx.AsyncClient() as http:
        environment = bot_environment(tmp_path, addresses)
        quote = await http.get(
            f"{addresses.service}/v1/quote/btc-idr", headers={"x-api-key": environment["SERVICE_API_KEY"]}
        )
        me = await http.get(f"{addresses.page}/bot{environment['TELEGRAM_BOT_TOKEN']}/getMe")
        assert (quote.status_code, me.status_code) == (200, 200)
        assert me.json()["result"]["is_bot"]
