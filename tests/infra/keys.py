"""Encryption keys for tests."""

import base64

from bot.infra.db.vault import Vault

KEY = bytes(range(32))
OLDER_KEY = bytes(range(32, 64))
ENCRYPTION_KEYS = base64.urlsafe_b64encode(KEY).decode()
VAULT = Vault([KEY])
