"""Encryption of personal texts in the database, so that the database file alone reveals no bank account.

A sealed text is `s1.<key>.<data>`: the version, the first bytes of the key's hash, and nonce and AES-256-GCM ciphertext
in base64. The name of the key shows which rows use an older key. Table, column and row are authenticated with the
text, so it doesn't open in another row. So a person who can write to the database can't exchange two recipients.
"""

import base64
import binascii
import hashlib
import re
import secrets
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from bot.infra.db.errors import RowUnreadable, StoreError
from bot.infra.db.fence import LeaseLost

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
VERSION: Final = "s1"
SEALED_ELSEWHERE: Final = re.compile(r"s\d+\.[0-9a-f]{8}\.[A-Za-z0-9_-]+={0,2}")
"""A text that another key sealed, or a later version. Nothing else was ever written."""


class NoKeys(StoreError):
    """A text has to be sealed or opened, but the program has no keys."""


class MissingKey(StoreError):
    """The database contains texts that are sealed with a key that the program doesn't have."""


class UnknownKey(MissingKey, LeaseLost):
    """This process has met a row that is sealed with a key that it doesn't have. It leaves all work as it is, and ends.

    Attributes:
        name: the name of the key.
    """

    def __init__(self, name: str) -> None:
        super().__init__(describe_missing([name]))
        self.name = name


class Vault:
    """Seals texts with the first key, and opens texts of any key.

    Args:
        keys: 32 bytes each (`Settings.sealing_keys`). Without any, nothing can be sealed.
    """

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._ciphers = {_derive_name(key): AESGCM(key) for key in keys}
        self._first = next(iter(self._ciphers), "")
        self.unreadable: dict[str, RowUnreadable] = {}
        """Rows that can't be read, as "table key", with the reason. They stay here until the process ends."""

    def copy_for_database(self) -> "Vault":
        """Return a vault with the same keys and no unreadable rows."""
        other = copy(self)
        other.unreadable = {}
        return other

    @property
    def first_key_name(self) -> str:
        """The name of the first key. Empty if there are no keys."""
        return self._first

    @property
    def key_names(self) -> frozenset[str]:
        """The names of all keys. A name reveals nothing about its key."""
        return frozenset(self._ciphers)

    @property
    def key_names_in_order(self) -> tuple[str, ...]:
        """The names of all keys, the first one first."""
        return tuple(self._ciphers)

    @property
    def first_key_prefix(self) -> str:
        """The prefix of every text that is sealed with the first key."""
        return f"{VERSION}.{self._first}."

    def seal(self, text: str, place: str) -> str:
        """Return `text` sealed with the first key, for a place. An empty text stays empty.

        Raises:
            NoKeys: the vault has no keys.
        """
        if not text:
            return text
        if not self._first:
            raise NoKeys("recipients can't be saved without ENCRYPTION_KEYS")
        nonce = secrets.token_bytes(NONCE_BYTES)
        # A half surrogate pair has no UTF-8, but the update with it must still be saved.
        data = self._ciphers[self._first].encrypt(nonce, text.encode(errors="surrogatepass"), place.encode())
        return self.first_key_prefix + base64.urlsafe_b64encode(nonce + data).decode()

    def open(self, sealed: str, place: str) -> str:
        """Return the text that was sealed for this place.

        Raises:
            UnknownKey: the vault doesn't have the key.
            RowUnreadable: the text was changed or moved.
        """
        if not sealed:
            return sealed
        cipher = self._ciphers.get(read_key_name(sealed))
        if cipher is None and SEALED_ELSEWHERE.fullmatch(sealed):
            raise UnknownKey(sealed.split(".")[1])
        if cipher is None:
            raise RowUnreadable("a row that must be encrypted isn't")
        try:
            raw = _decode(sealed.rpartition(".")[2])
            return cipher.decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], place.encode()).decode(errors="surrogatepass")
        except (InvalidTag, binascii.Error, ValueError):
            raise RowUnreadable("an encrypted row was changed or moved") from None


def describe_missing(names: Iterable[str]) -> str:
    """Return which keys are missing, and what to do about it."""
    return (
        f"it contains data encrypted with the key {', '.join(sorted(names))}, which is missing."
        " Add that key at the end of ENCRYPTION_KEYS"
    )


def generate_key() -> str:
    """Return a new random key for ENCRYPTION_KEYS."""
    return base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def read_key_name(sealed: str) -> str:
    """Return the name of the key of a sealed text. Empty if the text isn't sealed."""
    version, _, rest = sealed.partition(".")
    return rest.partition(".")[0] if version == VERSION else ""


def _decode(text: str) -> bytes:
    """Return the bytes of `text`. Reject other spellings of the same bytes, which base64 allows for the last character.

    Raises:
        ValueError: the text is another spelling, or not base64.
    """
    raw = base64.urlsafe_b64decode(text)
    if base64.urlsafe_b64encode(raw).decode() != text:
        raise ValueError("not as it was written")
    return raw


def _derive_name(key: bytes) -> str:
    return hashlib.sha256(b"kirim key name" + key).hexdigest()[:8]
