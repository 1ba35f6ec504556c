"""The operator's commands on API keys (settlement API, 5.8), working on the state file while the server may run."""

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
    """A new API key of a tenant, secret and all; it is never shown again.

    Raises:
        ControlRefusal: the tenant's name is no short lower-case word.
    """
    with _keys(state_path) as keys:
        return keys.issue(tenant).api_key


def rotate_key(state_path: Path, key_id: str) -> str:
    """The new API key that takes the place of `key_id` (with or without `pk_live_`), which is worthless at once.

    Raises:
        ControlRefusal: there is no such key.
    """
    with _keys(state_path) as keys:
        return keys.rotate(key_id).api_key


def revoke_key(state_path: Path, key_id: str) -> None:
    """Make a key worthless at once.

    Raises:
        ControlRefusal: there is no such key.
    """
    with _keys(state_path) as keys:
        keys.revoke(key_id)


def list_keys(state_path: Path) -> list[dict[str, object]]:
    """Every key without its secret: `keyId`, `tenant`, `createdAt`, `revokedAt`."""
    with _keys(state_path) as keys:
        return keys.shown()


@contextmanager
def _keys(state_path: Path) -> Iterator[KeyRing]:
    storage = Storage(state_path)
    try:
        yield KeyRing(storage, lambda: datetime.now(UTC))
    finally:
        storage.close()
