"""Secrets are removed from every part of a log line."""

import io
import logging
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram.error import InvalidToken

from bot.infra.redaction import _SECRETS, RedactingFormatter, install_redaction, quiet_library_logs, redact

TOKEN = "424242:AAabcdefghij-klmnopqrst_uvwxyz01234"
KEY = "pk_live_k3y1d.s3cr3t-half_of/it"


@pytest.mark.parametrize(
    "text",
    [
        f"POST https://api.telegram.org/bot{TOKEN}/sendMessage 200",
        f"The token `{TOKEN}` was rejected by the server.",
        f"https://api.telegram.org/file/bot{TOKEN}/photos/1.png?x=1",
        f"/bot{TOKEN.replace(':', '%3A')}/getMe",
        f'{{"url": "http://localhost/bot{TOKEN}"}}',
        "http://127.0.0.1:8480/bot1:short/getMe",
    ],
)
def test_bot_tokens_go(text: str) -> None:
    assert "AAabc" not in redact(text)
    assert "short" not in redact(text)
    assert "<token>" in redact(text)


@pytest.mark.parametrize("text", [KEY, f"Authorization: Bearer {KEY}", f"{{'x-api-key': '{KEY}'}}"])
def test_of_an_api_key_only_the_id_stays(text: str) -> None:
    assert "s3cr3t" not in redact(text)
    assert "half" not in redact(text)
    assert "pk_live_k3y1d.<secret>" in redact(text)


@pytest.mark.parametrize(
    "text",
    ["2026-11-21 10:15:30", "127.0.0.1:8480", "order:1a2b3c", "bot started", "chat 1001: 3 updates", "robot7: fine"],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


PARTS = (
    TOKEN,
    TOKEN.upper(),
    TOKEN.replace(":", "%3a"),
    KEY,
    KEY.lower(),
    "BOT",
    "bot",
    "123",
    ":",
    "%3A",
    "/p/",
    "x" * 32,
    "pk_",
    " ",
    "\u017f",
    "\u212a",
    "\u0661",
)


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_the_fast_search_for_secrets_misses_none(text: str) -> None:
    expected = text
    for _, pattern, replacement in _SECRETS:
        expected = pattern.sub(replacement, expected)
    assert redact(text) == expected


def sys_info(error: Exception) -> tuple[type[Exception], Exception, None]:
    return type(error), error, None


def test_a_traceback_is_redacted_with_its_line() -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(RedactingFormatter(logging.Formatter("%(levelname)s %(message)s")))
    refused = InvalidToken(f"The token `{TOKEN}` was rejected")
    handler.handle(logging.LogRecord("test", logging.ERROR, __file__, 1, "failed with %s", (KEY,), sys_info(refused)))
    assert out.getvalue().startswith("ERROR failed with pk_live_k3y1d.<secret>")
    assert "InvalidToken" in out.getvalue()
    assert TOKEN not in out.getvalue()


@pytest.mark.process
def test_a_whole_process_lets_no_token_out() -> None:
    program = """
import logging, sys
from bot.infra.redaction import install_redaction, quiet_library_logs
logging.basicConfig(level="INFO")
install_redaction(); install_redaction(); quiet_library_logs()
logging.getLogger("httpx").info("HTTP Request: chatter")
logging.getLogger("httpx").warning(f"https://api.telegram.org/bot{sys.argv[1]}/getMe")
raise RuntimeError(" ".join(sys.argv[1:]))
"""
    done = subprocess.run([sys.executable, "-c", program, TOKEN, KEY], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "chatter" not in done.stderr
    assert done.stderr.count("<token>") == 2
    assert "RuntimeError: <token> pk_live_k3y1d.<secret>" in done.stderr
    assert "AAabc" not in done.stdout + done.stderr


def test_installing_twice_wraps_once(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = logging.StreamHandler(io.StringIO())
    logger = logging.getLogger("kirim-test-twice")
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    for other in [*logging.getLogger().handlers, logging.lastResort]:
        if other is not None:
            monkeypatch.setattr(other, "formatter", other.formatter)
    install_redaction()
    once = handler.formatter
    install_redaction()
    assert isinstance(once, RedactingFormatter)
    assert handler.formatter is once


def test_libraries_are_quieted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("httpx", "telegram", "aiohttp"):
        monkeypatch.setattr(logging.getLogger(name), "level", logging.DEBUG)
    quiet_library_logs()
    assert not logging.getLogger("httpx").isEnabledFor(logging.INFO)
    assert not logging.getLogger("telegram.ext.ExtBot").isEnabledFor(logging.INFO)
