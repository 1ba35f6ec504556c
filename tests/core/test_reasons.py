"""Explanations of connection errors quote no address and name no class."""

import socket
import ssl

import asyncpg  # type: ignore[import-untyped]  # it ships none
import pytest
from sqlalchemy.exc import DBAPIError

from bot.core.reasons import database_reason, network_reason
from bot.infra.db.errors import translate_connection_error, translate_error

SECRET = "https://me:hunter2@db.example"


def certificate_error() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, SECRET)
    error.verify_message = "certificate has expired"
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionRefusedError(111, SECRET), "connection refused"),
        (socket.gaierror(-2, SECRET), "there is no host of this name"),
        (certificate_error(), "the certificate isn't valid (certificate has expired)"),
        (ssl.SSLError(1, SECRET), "the encrypted connection (TLS) failed"),
        (TimeoutError(SECRET), "no answer in time"),
        (ValueError(SECRET), ""),
        (PermissionError(13, SECRET, "/root/.pgpass"), "permission denied: /root/.pgpass"),
    ],
)
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_a_failed_connection_is_explained_without_quoting_the_error(
    error: Exception, reason: str, *, is_wrapped: bool
) -> None:
    if is_wrapped:
        wrapper = RuntimeError(SECRET)
        wrapper.__context__ = error
        error = wrapper
    assert network_reason(error) == reason


@pytest.mark.parametrize(
    ("code", "word"),
    [("SQLITE_CANTOPEN_ISDIR", "permissions"), ("28P01", "password"), ("3D000", "no database"), ("99999", "99999")],
)
def test_a_database_code_is_explained_and_repeated(code: str, word: str) -> None:
    assert word in database_reason(code)
    assert f"({code})" in database_reason(code)


def test_a_database_failure_names_no_class_and_quotes_no_row() -> None:
    wrong_password = asyncpg.InvalidPasswordError(SECRET)
    closed = DBAPIError("SELECT 1", None, asyncpg.InterfaceError(SECRET))
    for error in (
        translate_connection_error(wrong_password),
        translate_error(closed),
        translate_connection_error(ConnectionResetError(104, SECRET)),
    ):
        assert not any(word in str(error) for word in ("hunter2", "Error", "SELECT"))
    assert "password" in str(translate_connection_error(wrong_password))
