"""A sealed text can be read only with its key and in its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Table

from bot.config import _keys
from bot.infra.db.encryption import get_place, get_sealed_columns, list_sealed_tables, read_row, seal_row
from bot.infra.db.errors import RowUnreadable, StoreDown
from bot.infra.db.vault import NoKeys, UnknownKey, Vault, generate_key
from tests.infra.keys import KEY, OLDER_KEY, VAULT

HERE = get_place("orders", "number", "ABC2345")
THERE = get_place("orders", "number", "ABC2346")


@given(st.text(max_size=300))
def test_what_was_sealed_opens_in_its_place(text: str) -> None:
    assert VAULT.open(VAULT.seal(text, HERE), HERE) == text


@pytest.mark.parametrize("text", ["\ud800", "8620\udfff123", "🏦" * 4096, "\x00", "s1.not.sealed"])
def test_whatever_a_user_may_send_can_be_sealed(text: str) -> None:
    sealed = VAULT.seal(text, HERE)
    assert sealed.isascii()
    assert VAULT.open(sealed, HERE) == text


def test_the_same_text_never_looks_the_same() -> None:
    assert len({VAULT.seal("8620123456", HERE) for _ in range(50)}) == 50


def test_it_opens_nowhere_but_in_its_place() -> None:
    with pytest.raises(StoreDown, match="changed or moved"):
        VAULT.open(VAULT.seal("8620123456", HERE), THERE)


def test_places_of_different_columns_and_rows_never_meet() -> None:
    columns = [(table.name, column) for table in list_sealed_tables() for column in get_sealed_columns(table).columns]
    places = {get_place(table, column, key) for table, column in columns for key in "12"}
    assert len(places) == 2 * len(columns)


@pytest.mark.parametrize("text", ["8620123456", "86201234567", "862012345678"])
def test_a_changed_character_anywhere_is_noticed(text: str) -> None:
    sealed = VAULT.seal(text, HERE)
    for at, character in enumerate(sealed):
        changed = sealed[:at] + ("A" if character != "A" else "B") + sealed[at + 1 :]
        with pytest.raises(StoreDown):
            VAULT.open(changed, HERE)
    for shorter in (sealed[:-4], sealed[:20], f"{VAULT.first_key_prefix}", "s1.", "8620123456", "s1..AAAA"):
        with pytest.raises(StoreDown):
            VAULT.open(shorter, HERE)


def test_the_first_key_seals_and_all_of_them_open() -> None:
    old, both = Vault([OLDER_KEY]).seal("8620123456", HERE), Vault([KEY, OLDER_KEY])
    assert both.open(old, HERE) == "8620123456"
    assert both.seal("x", HERE).startswith(VAULT.first_key_prefix)
    assert Vault([OLDER_KEY, KEY]).first_key_name == Vault([OLDER_KEY]).first_key_name != both.first_key_name


def test_without_keys_nothing_can_be_sealed_and_nothing_is_written_readable() -> None:
    with pytest.raises(NoKeys, match="ENCRYPTION_KEYS"):
        Vault().seal("8620123456", HERE)
    assert Vault().seal("", HERE) == ""


def test_a_new_key_is_one_that_the_settings_take() -> None:
    from pydantic import SecretStr  # noqa: PLC0415  needed here alone

    first, second = generate_key(), generate_key()
    assert first != second
    assert [len(key) for key in _keys(SecretStr(f"{first},{second}"))] == [32, 32]


def test_every_sealed_column_is_a_text_column_of_its_table_beside_its_key() -> None:
    assert {"inbox", "drafts", "orders", "recipients", "audit"} <= {table.name for table in list_sealed_tables()}
    for table in list_sealed_tables():
        sealing = get_sealed_columns(table)
        assert [column.key for column in table.primary_key] == [sealing.key]
        assert [column for column in sealing.columns if str(table.c[column].type) != "TEXT"] == []


@pytest.mark.parametrize("table", list_sealed_tables(), ids=str)
def test_a_row_is_sealed_in_all_its_columns_and_nothing_stays_nothing(table: Table) -> None:
    sealing = get_sealed_columns(table)
    key, columns, digest = sealing.key, sealing.columns, sealing.digest
    made = {sealing.digest_column} if digest else set()
    covered = {"beside": "plain", **dict.fromkeys(digest.covers if digest else ())}
    row = {key: "7", **covered, **dict.fromkeys(columns, "8620123456")}
    sealed = seal_row(VAULT, table, dict(row))
    assert all(sealed[column].startswith(VAULT.first_key_prefix) for column in columns)
    assert sealed["beside"] == "plain"
    assert read_row(VAULT, table, dict(sealed), dict) == {name: row[name] for name in row.keys() - made}
    nothing = {key: "7", **covered, **dict.fromkeys(columns)}
    opened = read_row(VAULT, table, seal_row(VAULT, table, dict(nothing)), dict)
    assert opened == {name: nothing[name] for name in nothing.keys() - made}


@pytest.mark.parametrize("sealed", ["s2.{name}.{data}", "s12.0a1b2c3d.{data}", "s1.ffffffff.{data}"])
def test_what_another_key_or_a_later_version_sealed_names_its_key(sealed: str) -> None:
    _, name, data = VAULT.seal("8620123456", HERE).split(".")
    with pytest.raises(UnknownKey):
        VAULT.open(sealed.format(name=name, data=data), HERE)


@pytest.mark.parametrize(
    "text", ["8620123456", "s1.no.key", "s1.ffffffff.", "s1.ffffffff.a b", "x1.ffffffff.AAAA", "."]
)
def test_what_no_version_has_ever_written_is_damaged(text: str) -> None:
    with pytest.raises(RowUnreadable):
        VAULT.open(text, HERE)
