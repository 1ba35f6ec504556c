"""What seals recipients before they are written: a database file alone reveals no bank account.

A sealed text is `s1.<key>.<data>`: the version, the first bytes of its key's hash (so that rows of an older key are
found by looking), and nonce and AES-256-GCM ciphertext in base64. The place it was sealed for (table, column, row)
is authenticated with it: moved to another row it does not open, so nobody who can write to the database can put one
recipient in the place of another.
"""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Sequence
from copy import copy
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from bot.infra.db.errors import BrokenSeal, StoreError

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
VERSION: Final = "s1"


class NoKeys(StoreError):
    """Something is to be sealed or opened, and the program was given no keys."""


class UnfitKeys(StoreError):
    """Something in the database was sealed with a key that the program wasn't given."""


class Vault:
    """Seals with the first key, opens with any.

    Args:
        keys: 32 bytes each (`Settings.sealing_keys`). Without any, nothing can be sealed.
    """

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._ciphers = {_name(key): AESGCM(key) for key in keys}
        self._first = next(iter(self._ciphers), "")
        self.unreadable: set[str] = set()
        """Rows ("table key") that can't be read. Kept until the process ends."""

    def of_a_store(self) -> "Vault":
        """Return a vault with the same keys, and an empty note of unreadable rows."""
        other = copy(self)
        other.unreadable = set()
        return other

    @property
    def first(self) -> str:
        """The name of the key that seals; empty where there is none."""
        return self._first

    @property
    def names(self) -> frozenset[str]:
        """The names of all keys. A name tells nothing of its key."""
        return frozenset(self._ciphers)

    @property
    def mark(self) -> str:
        """What every text sealed with the first key begins with."""
        return f"{VERSION}.{self._first}."

    def seal(self, text: str, place: str) -> str:
        """`text`, to be read by whoever has the key alone. Nothing stays nothing: an empty text isn't sealed.

        Raises:
            NoKeys: there are no keys to seal with.
        """
        if not text:
            return text
        if not self._first:
            raise NoKeys("recipients can't be saved without ENCRYPTION_KEYS")
        nonce = secrets.token_bytes(NONCE_BYTES)
        # Half a surrogate pair has no UTF-8, and must not keep an update from being written.
        data = self._ciphers[self._first].encrypt(nonce, text.encode(errors="surrogatepass"), place.encode())
        return self.mark + base64.urlsafe_b64encode(nonce + data).decode()

    def open(self, sealed: str, place: str) -> str:
        """Return what was sealed for this place.

        Raises:
            BrokenSeal: none of the keys is its own, or it was changed or moved.
        """
        if not sealed:
            return sealed
        cipher = self._ciphers.get(name_in(sealed))
        if cipher is None:
            raise BrokenSeal("a row is encrypted with a key that isn't in ENCRYPTION_KEYS")
        try:
            raw = _decoded(sealed.rpartition(".")[2])
            return cipher.decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], place.encode()).decode(errors="surrogatepass")
        except (InvalidTag, binascii.Error, ValueError):
            raise BrokenSeal("an encrypted row was changed or moved") from None


def new_key() -> str:
    """Return a key for ENCRYPTION_KEYS."""
    return base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def name_in(sealed: str) -> str:
    """Return the name of the key that `sealed` was sealed with; empty where it isn't sealed."""
    version, _, rest = sealed.partition(".")
    return rest.partition(".")[0] if version == VERSION else ""


def _decoded(text: str) -> bytes:
    """Return the bytes that are written so and not otherwise: base64 alone takes several spellings of a last character.

    Raises:
        ValueError: it is another spelling, or no base64.
    """
    raw = base64.urlsafe_b64decode(text)
    if base64.urlsafe_b64encode(raw).decode() != text:
        raise ValueError("not as it was written")
    return raw


def _name(key: bytes) -> str:
    return hashlib.sha256(b"kirim key name" + key).hexdigest()[:8]
