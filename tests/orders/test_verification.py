"""Verification codes are read as people type them. Their hashes are useless to someone who steals the database."""

import hashlib

import pytest

from bot.orders.receipts.codes import code_hash, compact_code, is_written_code, read_code

CODE = "K7QM-2XPA-9RTW"
PEPPER = bytes(range(32))


@pytest.mark.parametrize(
    "typed",
    [
        CODE,
        "k7qm-2xpa-9rtw",
        "K7QM2XPA9RTW",
        " k7qm 2xpa  9rtw\n",
        "K7QM–2XPA—9RTW",  # noqa: RUF001 - dashes that phones make
        "K7QM\u20112XPA\u22129RTW",
        "Ｋ７ＱＭ－２ＸＰＡ－９ＲＴＷ",  # noqa: RUF001 - full-width
        "K7QM.2XPA_9RTW",
        "\u200eK7QM\u200b-2XPA-9RTW\u2069",
        "-K-7-Q-M-2-X-P-A-9-R-T-W-",
    ],
)
def test_what_people_type_is_read(typed: str) -> None:
    assert read_code(typed) == CODE


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "-",
        CODE[:-1],
        CODE + "A",
        CODE + CODE,
        "U7QM-2XPA-9RTW",
        "K7QM-2XPA-9RT*",
        "К7QM-2XPA-9RTW",  # noqa: RUF001 - a Cyrillic letter
        "K\u2077QM-2XPA-9RTW",
        "ß7QM2XPA9RT",
        "ß7QM2XPA9RTW",
        "ı7QM2XPA9RTW",  # noqa: RUF001 - becomes an I in capitals
        "K7QM/2XPA/9RTW",
        "<b>K7QM-2XPA",
        "🎉" * 12,
        "K" * 4_096,
    ],
)
def test_what_cant_be_a_code_is_none(typed: str) -> None:
    assert read_code(typed) is None


@pytest.mark.parametrize(
    "typed",
    [
        "0812-3456-7890",
        "081234567890",
        "K7QM2XPA9RTW",
        "500rb bca 1234",
        "500rb-bca-1234",
        "BCA-1234567890",
        "K7QM-2XPA-9RT",
        "K7QM-2XPA-9RTW please",
        "K7QM 2XPA 9RTW",
        "U7QM-2XPA-9RTW",
        "",
        "🎉" * 4_096,
    ],
)
def test_what_may_be_a_number_or_an_order_is_no_code_by_itself(typed: str) -> None:
    assert not is_written_code(typed)


def test_without_the_pepper_a_stolen_hash_cant_be_compared() -> None:
    for text in (CODE, compact_code(CODE)):
        assert code_hash(CODE, PEPPER) != hashlib.sha256(text.encode()).hexdigest()


def test_a_hash_stays_the_same_from_version_to_version() -> None:
    """Otherwise all existing receipts would become invalid."""
    assert code_hash(CODE, PEPPER) == "5a72e79562f9f7cf343b61e4a80d0818d01d0da740db27604b16c9a83f0f7915"
