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


def test_parameters_are_those_of_libpq_and_read_by_the_driver() -> None:
    found = parse_database_url(
        "postgresql://alex:p%40s%2Fs@db.example:5433/kir%20im?sslmode=require&connect_timeout=10&application_name=web"
        "&keepalives_idle=1&options=endpoint%3Dep-1&target_session_attrs=read-write&channel_binding=prefer"
    )
    assert found.connect_args == {
        "timeout": 10.0,
        "dsn": "postgresql://alex:p%40s%2Fs@db.example:5433/kir im"
        "?options=endpoint%3Dep-1&sslmode=require&target_session_attrs=read-write",
    }


@pytest.mark.parametrize(
    ("url", "dsn"),
    [
        ("postgresql://u@/kirim?host=/cloudsql/p:r:i", "postgresql://u@/kirim?host=%2Fcloudsql%2Fp%3Ar%3Ai"),
        ("postgresql://u@one,two:5433/kirim", "postgresql://u@one,two:5433/kirim"),
        ("postgresql://u@/kirim?host=one:1&host=two:2", "postgresql://u@/kirim?host=one%3A1%2Ctwo%3A2"),
        ("postgresql://u@[::1]:5433/kirim", "postgresql://u@[::1]:5433/kirim"),
    ],
)
def test_hosts_with_ports_and_several_hosts_are_read_by_the_driver(url: str, dsn: str) -> None:
    assert parse_database_url(url).connect_args == {"dsn": dsn}


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("connect_timeout=0", "connect_timeout must be 1 to 60 seconds"),
        ("connect_timeout=soon", "connect_timeout must be 1 to 60 seconds"),
        ("sslmode=verify-full&sslrootcert=/nowhere/ca.pem", "sslrootcert names a file that can't be read"),
        (
            f"sslmode=verify-full&sslcrl={__file__}",
            "sslcrl needs sslrootcert: the file with the provider's certificate authority",
        ),
        (f"sslmode=verify-full&sslcert={__file__}", "sslcert and sslkey aren't a certificate and its key"),
    ],
)
def test_what_neither_driver_nor_server_would_name_is_refused_in_one_sentence(query: str, why: str) -> None:
    with pytest.raises(UnusableUrl) as caught:
        parse_database_url(f"postgresql://u:s3cret@h/d?{query}")
    assert str(caught.value) == why


@pytest.mark.parametrize(
    "url", ["", "mysql://u:secret@h/d", "://", "nonsense://u:secret@", "postgresql://u:secret@h:x/d"]
)
def test_anything_else_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(UnusableUrl) as caught:
        parse_database_url(url)
    assert "secret" not in str(caught.value)


def test_an_address_does_not_show_its_password() -> None:
    assert "secret" not in repr(parse_database_url("postgresql://kirim:secret@db.example/kirim?password=secret"))
