"""The public key of a payee, computed by OpenSSL and so independent of the tested code."""

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def public_key(private_key: bytes) -> bytes:
    """Return the public key of a secp256k1 private key in its 33 compressed bytes."""
    key = ec.derive_private_key(int.from_bytes(private_key), ec.SECP256K1())
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
