"""The key of the sandbox service (settlement API, 5)."""

from __future__ import annotations

import pytest

from bot.sandbox.settlement import SANDBOX_API_KEY
from tests.sandbox.settlement_system import SettlementSystem, error_of

QUOTE = "/v1/quote/btc-idr"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": "sk_test_1"},
        {"authorization": "Basic abc"},
        {"x-api-key": "pk_live_nobody.0123456789abcdef"},
        {"x-api-key": SANDBOX_API_KEY[:-1] + "0"},
        {"x-api-key": "pk_live_nobody.0123456789abcdef", "authorization": f"Bearer {SANDBOX_API_KEY}"},
    ],
)
async def test_any_other_key_is_refused(headers: dict[str, str]) -> None:
    async with SettlementSystem(profile="live") as system:
        answer = await system.http.get(QUOTE, headers=headers)
        assert answer.status_code == 401
        assert error_of(answer)


async def test_a_revoked_key_is_refused_at_once_and_revoking_again_is_no_error() -> None:
    async with SettlementSystem() as system:
        await system.control("keys/revoke", keyId=SANDBOX_API_KEY.partition(".")[0])
        assert (await system.get(QUOTE)).status_code == 401
        await system.control("keys/revoke", keyId=SANDBOX_API_KEY.partition(".")[0])
