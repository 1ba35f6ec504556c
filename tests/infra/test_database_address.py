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


def test_parameters_are_those_of_libpq() -> None:
    found = parse_database_url(
        "postgresql://db.example/kirim?sslmode=require&connect_timeout=10&target_session_attrs=read-write"
        "&application_name=web&options=endpoint%3Dep-1&user=kirim&password=p%2Fq&dbname=other&passfile=%2Fsrv%2Fpgpass"
    )
    assert found.connect_args == {
        "host": "db.example",
        "user": "kirim",
        "password": "p/q",
        "database": "other",
        "passfile": "/srv/pgpass",
        "target_session_attrs": "read-write",
        "timeout": 10.0,
        "server_settings": {"options": "endpoint=ep-1"},
        "dsn": "postgresql://?sslmode=require",
    }


@pytest.mark.parametrize(
    ("url", "dsn"),
    [
        ("postgresql://u@/kirim?host=/cloudsql/p:r:i", "postgresql://?host=%2Fcloudsql%2Fp%3Ar%3Ai"),
        ("postgresql://u@one,two:5433/kirim", "postgresql://?host=one%2Ctwo"),
        ("postgresql://u@/kirim?host=one:1&host=two:2", "postgresql://?host=one%3A1%2Ctwo%3A2"),
        ("postgresql://u@/kirim?host=one&port=5433", "postgresql://?host=one&port=5433"),
    ],
)
def test_hosts_with_ports_and_several_hosts_are_read_by_the_driver(url: str, dsn: str) -> None:
    found = parse_database_url(url).connect_args
    assert found["dsn"] == dsn
    assert "host" not in found


@pytest.mark.parametrize("mode", ["disable", "prefer"])
def test_channel_binding_that_need_not_be_changes_nothing(mode: str) -> None:
    found = parse_database_url(f"postgresql://h/d?sslmode=require&channel_binding={mode}").connect_args
    assert found["dsn"] == "postgresql://?sslmode=require"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("sslmode=on", "sslmode must be one of: disable, allow, prefer, require, verify-ca, verify-full"),
        ("channel_binding=maybe", "channel_binding must be one of: disable, prefer, require"),
        ("target_session_attrs=standby", "target_session_attrs must be one of: any, primary, read-write"),
        ("connect_timeout=0", "connect_timeout must be 1 to 60 seconds"),
        ("connect_timeout=soon", "connect_timeout must be 1 to 60 seconds"),
        (
            "sslmode=verify-ca",
            "sslmode=verify-ca needs sslrootcert: the file with the provider's certificate authority",
        ),
        ("sslmode=require&sslrootcert=system", "sslrootcert=system needs sslmode=verify-full"),
        (
            "sslmode=verify-full&sslcrl=/x",
            "sslcrl needs sslrootcert: the file with the provider's certificate authority",
        ),
        ("sslmode=verify-full&sslrootcert=/nowhere/ca.pem", "sslrootcert names a file that can't be read"),
        (f"sslmode=verify-full&sslrootcert={__file__}", "sslrootcert names a file without certificates (PEM)"),
        (f"sslmode=verify-full&sslcert={__file__}", "sslcert and sslkey aren't a certificate and its key"),
        (
            "sslmode=require&tcp_user_timeout=1",
            "its parameter tcp_user_timeout isn't one that Kirim knows: take it out",
        ),
        ("sslmode=require&s3cret=1", "its parameter number 2 isn't one that Kirim knows: take it out"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_refused_in_one_sentence(query: str, why: str) -> None:
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
