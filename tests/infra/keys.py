"""Encryption keys for tests, and the settings without which there is no bot."""

import base64

from bot.infra.db.vault import Vault

KEY = bytes(range(32))
OLDER_KEY = bytes(range(32, 64))
ENCRYPTION_KEYS = base64.urlsafe_b64encode(KEY).decode()
VAULT = Vault([KEY])
REQUIRED_SETTINGS = {
    "telegram_bot_token": "1:AAAA",
    "service_api_key": "pk_live_made.up",
    "service_base_url": "https://service.example",
    "encryption_keys": ENCRYPTION_KEYS,
}


def name_of(key: str) -> str:
    """Return the name of a key of ENCRYPTION_KEYS."""
    return Vault([base64.urlsafe_b64decode(key)]).first_key_name
