"""API keys: `pk_live_<id>.<secret>` (settlement API, 5).

Only a hash of each secret is stored. SHA-256 is enough, because secrets are 256 random bits that can't be guessed. A
slow hash would only slow down every request.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import structlog

from bot.sandbox.service.errors import ControlRefusal, Refusal
from bot.sandbox.service.orders.orders import iso
from bot.sandbox.service.storage import from_milliseconds, to_milliseconds

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from datetime import datetime

    from bot.sandbox.service.storage import Storage

_KEY: Final = re.compile(r"pk_live_([A-Za-z0-9-]{1,64})\.([A-Za-z0-9_-]{8,128})", re.ASCII)
_TENANT: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_BEARER: Final = re.compile(r"bearer +(\S+) *", re.IGNORECASE)

MISSING: Final = "Missing API key: send x-api-key or Authorization: Bearer"
MALFORMED: Final = "Invalid API key format"
REVOKED: Final = "Invalid or revoked API key"
ANY_KEY_PROBLEM: Final = "API key missing, revoked or malformed"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key. Its secret is shown only now."""

    tenant: str
    key_id: str
    api_key: str


class KeyRing:
    """The keys of all tenants."""

    def __init__(self, storage: Storage, clock: Callable[[], datetime]) -> None:
        self._storage = storage
        self._db = storage.connection
        self._clock = clock

    def issue(self, tenant: str) -> IssuedKey:
        """Issue a key for a tenant. The first key creates the tenant.

        Raises:
            ControlRefusal: 400, the tenant's name isn't a short lower-case word.
        """
        if not _TENANT.fullmatch(tenant):
            raise ControlRefusal(400, "tenant must be 1 to 63 of a-z, 0-9, - and _")
        key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        self._insert(tenant, key_id, secret)
        log.info("api_key_issued", tenant=tenant, key_id=key_id)
        return IssuedKey(tenant, key_id, f"pk_live_{key_id}.{secret}")

    def adopt(self, tenant: str, api_key: str) -> None:
        """Add a preset key, unless it was revoked earlier.

        Raises:
            ValueError: the key is malformed.
        """
        match = _KEY.fullmatch(api_key)
        if match is None:
            raise ValueError("a preset API key must look like pk_live_<id>.<secret>")
        self._insert(tenant, match[1], match[2])

    def revoke(self, key_id: str) -> None:
        """Revoke a key at once. Revoking it again isn't an error.

        Raises:
            ControlRefusal: 404, there is no such key.
        """
        self._row_or_refuse(key_id)
        self._db.execute(
            "UPDATE keys SET revoked_at = COALESCE(revoked_at, ?) WHERE key_id = ?",
            (to_milliseconds(self._clock()), _bare(key_id)),
        )
        log.info("api_key_revoked", key_id=_bare(key_id))

    def rotate(self, key_id: str) -> IssuedKey:
        """Revoke a key and issue a new one to its tenant, both or neither.

        Raises:
            ControlRefusal: 404, there is no such key.
        """
        tenant = str(self._row_or_refuse(key_id)["tenant"])
        with self._storage.transaction():
            self.revoke(key_id)
            return self.issue(tenant)

    def shown(self) -> list[dict[str, object]]:
        """Return every key without its secret: `keyId`, `tenant`, `createdAt`, `revokedAt`."""
        rows = self._db.execute("SELECT * FROM keys ORDER BY created_at, key_id").fetchall()
        return [_shown(row) for row in rows]

    def first_tenant(self) -> str | None:
        """Return the tenant with the oldest valid key."""
        row = self._db.execute("SELECT tenant FROM keys WHERE revoked_at IS NULL ORDER BY rowid LIMIT 1").fetchone()
        return None if row is None else str(row["tenant"])

    def tenant_of(self, api_key: str) -> str:
        """Return the tenant of a key.

        Raises:
            Refusal: 401, the key is malformed, unknown or revoked.
        """
        match = _KEY.fullmatch(api_key)
        if match is None:
            raise Refusal(401, MALFORMED)
        row = self._row(match[1])
        if row is None or row["revoked_at"] is not None or not _fits(match[2], row["secret_hash"]):
            raise Refusal(401, REVOKED)
        return str(row["tenant"])

    def _insert(self, tenant: str, key_id: str, secret: str) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO keys (key_id, tenant, secret_hash, created_at) VALUES (?, ?, ?, ?)",
            (key_id, tenant, _hashed(secret), to_milliseconds(self._clock())),
        )

    def _row(self, key_id: str) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._db.execute("SELECT * FROM keys WHERE key_id = ?", (key_id,)).fetchone()
        return row

    def _row_or_refuse(self, key_id: str) -> sqlite3.Row:
        row = self._row(_bare(key_id))
        if row is None:
            raise ControlRefusal(404, "no such key")
        return row


def presented_key(x_api_key: str | None, authorization: str | None) -> str:
    """Return the key of a request. `x-api-key` wins if both headers are sent.

    Raises:
        Refusal: 401, there is none, or the scheme isn't Bearer.
    """
    if x_api_key:
        return x_api_key
    if not authorization:
        raise Refusal(401, MISSING)
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise Refusal(401, MALFORMED)
    return match[1]


def _bare(key_id: str) -> str:
    return key_id.removeprefix("pk_live_")


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _fits(secret: str, secret_hash: str) -> bool:
    return hmac.compare_digest(_hashed(secret), secret_hash)


def _shown(row: sqlite3.Row) -> dict[str, object]:
    revoked = row["revoked_at"]
    return {
        "keyId": f"pk_live_{row['key_id']}",
        "tenant": row["tenant"],
        "createdAt": iso(from_milliseconds(row["created_at"])),
        "revokedAt": None if revoked is None else iso(from_milliseconds(revoked)),
    }
