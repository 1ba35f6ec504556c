"""Signatures of invoices: recovering the public key, verifying with a stated key, and signing.

`ecdsa` is pure Python, so it runs wherever Python runs. Its known weakness (CVE-2024-23342) is that the time to sign
leaks parts of the secret key. That is harmless here: the bot has no secret key, and the sandbox signs for play money.
Never use this module with a key that guards real money.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Final

from ecdsa.curves import SECP256k1
from ecdsa.ellipticcurve import INFINITY, PointJacobi
from ecdsa.rfc6979 import generate_k

_G: Final = SECP256k1.generator
_N: Final[int] = int(SECP256k1.order)
_P: Final[int] = int(SECP256k1.curve.p())

_LARGEST_LOW_S: Final = _N // 2
_LARGEST_RECOVERY_ID: Final = 3
_KEY_BYTES: Final = 33

# Results depend only on public arguments, and agents read an unpaid order every few seconds.
_CACHED_RESULTS: Final = 1_024


@lru_cache(maxsize=_CACHED_RESULTS)
def recover(signature: bytes, digest: bytes) -> bytes:
    """Return the public key of a signature, as 33 compressed bytes. A high S is accepted.

    Args:
        signature: 65 bytes: R, S and the recovery id, which selects one of up to four keys.
        digest: the SHA-256 of what was signed.

    Raises:
        ValueError: a number is out of range, or no key fits the signature.
    """
    r, s = _numbers(signature)
    recovery_id = signature[64]
    if recovery_id > _LARGEST_RECOVERY_ID or not r or not s:
        raise ValueError("a number of the signature is out of range")
    point = _point(r + _N if recovery_id & 2 else r, odd=bool(recovery_id & 1))
    inverse = pow(r, -1, _N)
    key = _G.mul_add(-int.from_bytes(digest) * inverse % _N, point, s * inverse % _N)
    if key == INFINITY:
        raise ValueError("the signature belongs to no key")
    return bytes(key.to_bytes("compressed"))


@lru_cache(maxsize=_CACHED_RESULTS)
def is_signed_by(key: bytes, signature: bytes, digest: bytes) -> bool:
    """Return whether the key made the signature and its S is low. The recovery id is ignored.

    Args:
        key: 33 compressed bytes.
        signature: 65 bytes: R, S and the recovery id.
        digest: the SHA-256 of what was signed.

    Raises:
        ValueError: R or S is too large to be part of a signature, or the key isn't a point of the curve.
    """
    r, s = _numbers(signature)
    if len(key) != _KEY_BYTES or key[0] not in {2, 3}:
        raise ValueError("not a compressed key")
    payee = _point(int.from_bytes(key[1:]), odd=key[0] == 3)  # noqa: PLR2004  SEC 1: 2 is even, 3 is odd
    if not r or not 0 < s <= _LARGEST_LOW_S:
        return False
    inverse = pow(s, -1, _N)
    point = _G.mul_add(int.from_bytes(digest) * inverse % _N, payee, r * inverse % _N)
    return bool(point != INFINITY and point.x() % _N == r)


def sign(private_key: bytes, digest: bytes) -> bytes:
    """Sign deterministically (RFC 6979) with a low S. Return R, S and the recovery id, 65 bytes.

    Args:
        private_key: 32 bytes. Signing leaks it through timing (see above).
        digest: the SHA-256 of what is signed.

    Raises:
        ValueError: the private key is out of range.
    """
    secret = int.from_bytes(private_key)
    if not 0 < secret < _N:
        raise ValueError("not a private key")
    nonce = int(generate_k(_N, secret, sha256, digest))
    point = nonce * _G
    x, y = int(point.x()), int(point.y())
    r = x % _N
    s = pow(nonce, -1, _N) * (int.from_bytes(digest) + r * secret) % _N
    recovery_id = (2 if x >= _N else 0) | (y & 1)
    if s > _LARGEST_LOW_S:
        s, recovery_id = _N - s, recovery_id ^ 1
    return r.to_bytes(32) + s.to_bytes(32) + bytes([recovery_id])


def _numbers(signature: bytes) -> tuple[int, int]:
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:64])
    if r >= _N or s >= _N:
        raise ValueError("a number of the signature is out of range")
    return r, s


def _point(x: int, *, odd: bool) -> PointJacobi:
    """Return the point with this x and an odd or even y. The square root is this simple because P % 4 == 3."""
    square = (pow(x, 3, _P) + 7) % _P
    y = pow(square, (_P + 1) // 4, _P)
    if x >= _P or y * y % _P != square:
        raise ValueError("not a point of the curve")
    return PointJacobi(SECP256k1.curve, x, y if y % 2 == odd else _P - y, 1, _N)
