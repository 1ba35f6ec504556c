"""The settings of the send limits."""

import pytest

from bot.app import create_send_limits
from bot.config import load
from bot.infra.telegram.outbound.pace import Limits
from tests.infra.keys import ENCRYPTION_KEYS

REQUIRED = {
    "telegram_bot_token": "1:AAAA",
    "service_api_key": "pk_live_made.up",
    "service_base_url": "https://service.example",
    "encryption_keys": ENCRYPTION_KEYS,
}


@pytest.mark.parametrize(
    ("settings", "pace"),
    [
        ({}, Limits()),
        ({"chat_messages_per_second": 2}, Limits(chat_gap=0.5, edit_gap=0.25)),
        ({"group_messages_per_minute": 60}, Limits(group_per_minute=60)),
        ({"broadcast_messages_per_second": 5}, Limits(bulk_per_second=5)),
        ({"interactive_messages_per_second": 60}, Limits(most_per_second=60)),
        ({"broadcast_messages_per_second": 300, "allow_paid_broadcast": True}, Limits(bulk_per_second=300)),
    ],
    ids=str,
)
def test_each_setting_changes_its_own_pace_alone(settings: dict[str, object], pace: Limits) -> None:
    assert create_send_limits(load(None, **REQUIRED, **settings)) == pace
