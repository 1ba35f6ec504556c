"""The operator's commands for API keys (settlement API, 5.8).

They change the state file, even while the server runs.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.sandbox.service.keys import KeyRing
from bot.sandbox.service.storage import Storage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def issue_key(state_path: Path, tenant: str) -> str:
    """Return a new API key of a tenant with its secret. The secret is never shown again.

    Raises:
        ControlRefusal: the tenant's name isn't a short lower-case word.
    """
    with _keys(state_path) as keys:
        return keys.issue(tenant).api_key


def rotate_key(state_path: Path, key_id: str) -> str:
    """Revoke `key_id` (with or without `pk_live_`) at once and return the API key that replaces it.

    Raises:
        ControlRefusal: there is no such key.
    """
    with _keys(state_path) as keys:
        return keys.rotate(key_id).api_key


def revoke_key(state_path: Path, key_id: str) -> None:
    """Revoke a key at once.

    Raises:
        ControlRefusal: there is no such key.
    """
    with _keys(state_path) as keys:
        keys.revoke(key_id)


def list_keys(state_path: Path) -> list[dict[str, object]]:
    """Return every key without its secret: `keyId`, `tenant`, `createdAt`, `revokedAt`."""
    with _keys(state_path) as keys:
        return keys.shown()


@contextmanager
def _keys(state_path: Path) -> Iterator[KeyRing]:
    storage = Storage(state_path)
    try:
        yield KeyRing(storage, lambda: datetime.now(UTC))
    finally:
        storage.close()
