"""Signatures over secp256k1, checked against OpenSSL's implementation and at the limits of valid signatures."""

from hashlib import sha256

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature, encode_dss_signature
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.payments import secp256k1
from tests.examples import examples
from tests.payments.payee_keys import public_key

# From SEC 2.
_P = 2**256 - 2**32 - 977
_N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141

_DIGEST = sha256(b"an invoice").digest()
_Z = int.from_bytes(_DIGEST)
_KEY = bytes(range(1, 33))
_SIGNATURE = secp256k1.sign(_KEY, _DIGEST)
_R, _S = int.from_bytes(_SIGNATURE[:32]), int.from_bytes(_SIGNATURE[32:64])

_private_keys = st.integers(1, _N - 1).map(lambda number: number.to_bytes(32))
_digests = st.binary(min_size=32, max_size=32)
_ECDSA = ec.ECDSA(Prehashed(hashes.SHA256()))


def _compressed(x: int, *, odd: bool = False) -> bytes:
    return bytes([3 if odd else 2]) + x.to_bytes(32)


def _written(r: int, s: int, recovery_id: int = 0) -> bytes:
    return r.to_bytes(32) + s.to_bytes(32) + bytes([recovery_id])


@settings(max_examples=examples(15))
@given(_private_keys, _digests)
def test_openssl_accepts_what_is_signed_and_the_key_is_recovered(private_key: bytes, digest: bytes) -> None:
    signature = secp256k1.sign(private_key, digest)
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:64])
    assert s <= _N // 2
    ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), public_key(private_key)).verify(
        encode_dss_signature(r, s), digest, _ECDSA
    )
    assert secp256k1.recover(signature, digest) == public_key(private_key)
    assert secp256k1.is_signed_by(public_key(private_key), signature, digest)


@settings(max_examples=examples(15))
@given(_private_keys, _digests)
def test_what_openssl_signed_belongs_to_one_of_the_recovered_keys(private_key: bytes, digest: bytes) -> None:
    key = ec.derive_private_key(int.from_bytes(private_key), ec.SECP256K1())
    r, s = decode_dss_signature(key.sign(digest, _ECDSA))
    recovered = {secp256k1.recover(_written(r, s, which), digest) for which in (0, 1)}
    assert public_key(private_key) in recovered
    assert len(recovered) == 2
    assert secp256k1.is_signed_by(public_key(private_key), _written(r, min(s, _N - s)), digest)
    assert not secp256k1.is_signed_by(public_key(private_key), _written(r, max(s, _N - s)), digest)


@pytest.mark.parametrize("number", [0, _N, _N + 1, 2**256 - 1])
def test_a_number_out_of_range_is_no_signature(number: int) -> None:
    for signature in (_written(number, _S), _written(_R, number)):
        with pytest.raises(ValueError, match="out of range"):
            secp256k1.recover(signature, _DIGEST)
        if number:
            with pytest.raises(ValueError, match="out of range"):
                secp256k1.is_signed_by(public_key(_KEY), signature, _DIGEST)
        else:
            assert not secp256k1.is_signed_by(public_key(_KEY), signature, _DIGEST)


@pytest.mark.parametrize("recovery_id", [2, 3])
def test_an_x_beyond_the_order_is_recovered_only_where_the_field_has_room_for_it(recovery_id: int) -> None:
    # The smallest R whose x was reduced by the order of the curve and belongs to a point.
    r = next(r for r in range(1, 1_000) if pow((r + _N) ** 3 + 7, (_P - 1) // 2, _P) == 1)
    signature = _written(r, _S, recovery_id)
    key = secp256k1.recover(signature, _DIGEST)
    assert secp256k1.is_signed_by(key, signature, _DIGEST)
    assert key != secp256k1.recover(_written(r, _S, recovery_id ^ 1), _DIGEST)
    with pytest.raises(ValueError, match="point"):
        secp256k1.recover(_written(_P - _N + r, _S, recovery_id), _DIGEST)


def test_an_r_that_is_no_point_recovers_nothing() -> None:
    r = next(r for r in range(1, 1_000) if pow(r**3 + 7, (_P - 1) // 2, _P) != 1)
    for recovery_id in (0, 1):
        with pytest.raises(ValueError, match="point"):
            secp256k1.recover(_written(r, _S, recovery_id), _DIGEST)


@pytest.mark.parametrize("nonce", [1, 2, 3, _N - 1, _N - 2])
def test_a_signature_whose_key_would_be_infinity_recovers_nothing(nonce: int) -> None:
    point = public_key(nonce.to_bytes(32))
    s = _Z * pow(nonce, -1, _N) % _N
    with pytest.raises(ValueError, match="no key"):
        secp256k1.recover(_written(int.from_bytes(point[1:]), s, point[0] - 2), _DIGEST)


@pytest.mark.parametrize("nonce", [1, 2, _N - 1])
def test_a_key_is_recovered_where_the_nonce_is_the_smallest_or_largest(nonce: int) -> None:
    point = public_key(nonce.to_bytes(32))
    r = int.from_bytes(point[1:])
    s = pow(nonce, -1, _N) * (_Z + r * int.from_bytes(_KEY)) % _N
    assert secp256k1.recover(_written(r, s, point[0] - 2), _DIGEST) == public_key(_KEY)
    assert secp256k1.is_signed_by(public_key(_KEY), _written(r, min(s, _N - s)), _DIGEST)


@pytest.mark.parametrize(
    "key",
    [
        b"",
        public_key(_KEY)[:32],
        public_key(_KEY) + b"\0",
        b"\x04" + public_key(_KEY)[1:],
        _compressed(5),
        _compressed(_P),
        _compressed(_P + 1),
        _compressed(2**256 - 1),
    ],
)
def test_what_is_no_compressed_point_is_refused_as_a_key(key: bytes) -> None:
    with pytest.raises(ValueError, match="not a"):
        secp256k1.is_signed_by(key, _SIGNATURE, _DIGEST)
