"""The accepted forms of `DATABASE_URL`."""

from pathlib import Path

import pytest

from bot.infra.db.address import parse_database_url
from bot.infra.db.errors import UnusableUrl


@pytest.mark.parametrize("url", ["data/kirim.db", "sqlite:///data/kirim.db", "sqlite+aiosqlite:///data/kirim.db"])
def test_a_relative_path_stays_where_it_was_meant(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_database_url(url).path == tmp_path.resolve() / "data" / "kirim.db"


def test_an_absolute_path_is_kept() -> None:
    assert parse_database_url("sqlite:////srv/kirim.db").path == Path("/srv/kirim.db").resolve()
    assert parse_database_url("/srv/100% kirim?.db").path == Path("/srv/100% kirim?.db").resolve()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+asyncpg", "postgresql+psycopg"])
def test_every_spelling_of_postgresql_means_our_driver(scheme: str) -> None:
    found = parse_database_url(f"{scheme}://kirim:p%40ss@db.example:5433/kirim")
    assert found.path is None
    assert found.url.render_as_string(hide_password=False) == (
        "postgresql+asyncpg://kirim:p%40ss@db.example:5433/kirim"
    )


def test_the_usual_name_for_encryption_is_understood() -> None:
    found = parse_database_url("postgresql://db.example/kirim?sslmode=require")
    assert dict(found.url.query) == {"ssl": "require"}


@pytest.mark.parametrize(
    "url", ["", "mysql://u:secret@h/d", "://", "nonsense://u:secret@", "postgresql://u:secret@h:x/d"]
)
def test_anything_else_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(UnusableUrl) as caught:
        parse_database_url(url)
    assert "secret" not in str(caught.value)


def test_an_address_does_not_show_its_password() -> None:
    assert "secret" not in repr(parse_database_url("postgresql://kirim:secret@db.example/kirim"))
