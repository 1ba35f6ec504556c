"""Secrets are removed from every part of a log line."""

import base64
import json
import re
import string
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.config import Settings, secret_values
from bot.infra import redaction
from bot.infra.redaction import (
    _SECRETS,
    know_secrets,
    redact,
)
from bot.mcp_server.config import AgentSettings


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without known values, and forget those of the test."""
    monkeypatch.setattr(redaction, "_known", redaction._Known())


TOKEN = "424242:AAabcdefghij-klmnopqrst_uvwxyz01234"
KEY = "pk_live_k3y1d.s3cr3t-half_of/it"


@pytest.mark.parametrize(
    "address", ["https://wa.me/6281234567890?text=Rp500", "https://pay.example/verify/K7QM2XPA9RTW"]
)
def test_of_a_rejected_button_neither_the_number_nor_the_code_is_logged(address: str) -> None:
    said = redact(f"inline keyboard button URL '{address}' is invalid")
    assert said == f"inline keyboard button URL '{address.rpartition('/')[0]}/<secret>' is invalid"


FORMS = (":", "%3A", "%3a", "%253A")
SCHEMES = ("postgresql://", "postgresql+asyncpg://", "https://", "redis://")
HEADERS = (
    "x-api-key: VALUE",
    "X-Api-Key=VALUE",
    "{'x-api-key': 'VALUE'}",
    '{"x-api-key": "VALUE"}',
    '{\\"x-api-key\\": \\"VALUE\\"}',
    "(b'x-api-key', b'VALUE')",
    "Authorization: VALUE",
    "authorization: Bearer VALUE",
    "Authorization: Basic VALUE",
    "{'authorization': 'bearer VALUE'}",
    "[(b'authorization', b'Bearer VALUE')]",
    "X-Telegram-Bot-Api-Secret-Token: VALUE",
    "Cookie: VALUE",
    '{"x-api-key":"VALUE","key":"pk_live_id.secret-half"}',
    "password=VALUE&api_key=<secret>",
    "host=db user=kirim password=VALUE sslmode=require",
    "PGPASSWORD=VALUE",
    "SERVICE_MCP_HTTP_TOKEN=VALUE",
    "TELEGRAM_BOT_TOKEN=VALUE",
    "ENCRYPTION_KEYS=VALUE",
    "SERVICE_API_KEY=VALUE",
)
PARTS = (
    *("://me:pass@host", "@", "X-API-KEY: abcdefgh", "'authorization': 'Bearer abcdefgh'", "password=", "Bearer "),
    *("BASIC ", "k" * 43, "=", TOKEN, TOKEN.upper(), TOKEN.replace(":", "%3a"), KEY, KEY.lower(), "BOT", "bot", "123"),
    *(":", "%3A", "/p/", "/verify/", "wa.me/", "x" * 32, "pk_", " ", "\u017f", "\u212a", "\u0661"),
)


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_the_fast_search_for_secrets_misses_none(text: str) -> None:
    expected = text
    for _, pattern, replacement in _SECRETS:
        expected = pattern.sub(replacement, expected)
    assert redact(text) == expected


DRAWN = string.ascii_letters + string.digits + "_-"
AROUND = st.text(string.printable, max_size=30)


@given(AROUND, st.integers(100_000, 10**11), st.text(DRAWN, min_size=35, max_size=35), st.sampled_from(FORMS), AROUND)
def test_what_looks_like_a_bots_token_goes_whatever_is_around_it(
    before: str, number: int, secret: str, form: str, after: str
) -> None:
    assume(secret not in before + after)
    assert secret not in redact(f"{before}{number}{form}{secret}{after}")


@given(AROUND, st.text(DRAWN + "/+$!", min_size=1), st.text(string.ascii_letters + string.digits, min_size=8), AROUND)
def test_what_looks_like_an_api_key_loses_its_secret_half(before: str, key_id: str, secret: str, after: str) -> None:
    assume(secret not in before + after + key_id + "pk_live_secret")
    assert secret not in redact(f"{before}pk_live_{key_id}.{secret}{after}")


PASSWORD = st.text(string.ascii_letters + string.digits + "!$%&()*+,-.;<=>[]^_{|}~/:@#?", min_size=6)


@given(AROUND, st.sampled_from(SCHEMES), st.text(DRAWN, max_size=20), PASSWORD)
def test_the_password_in_an_address_goes(before: str, scheme: str, user: str, password: str) -> None:
    assume(password not in before + scheme + user + "@db.example:5432/kirim?ssl=require:<secret>")
    assume(not re.match(r"\d{1,5}[/?#]", password))
    said = redact(f"{before} {scheme}{user}:{password}@db.example:5432/kirim?ssl=require")
    assert password not in said
    assert "@db.example:5432/kirim?ssl=require" in said


@given(st.sampled_from(HEADERS), st.text(DRAWN + ".~+/", min_size=6, max_size=80))
def test_the_value_of_a_secret_header_or_setting_goes(header: str, secret: str) -> None:
    assume(secret not in header)
    assert secret not in redact(header.replace("VALUE", secret))


@given(AROUND, st.text(DRAWN + "=", min_size=16).filter(lambda text: text.strip("=.")), AROUND)
def test_a_bearer_token_goes(before: str, secret: str, after: str) -> None:
    assume(secret not in before + after)
    assert secret not in redact(f"{before} Bearer {secret} {after}")


@given(st.binary(min_size=32, max_size=32), st.sampled_from([" ", "'", '"', ",", ".", "("]))
def test_an_encryption_key_goes(key: bytes, before: str) -> None:
    text = base64.urlsafe_b64encode(key).decode()
    assert text not in redact(f"ends with{before}{text}")


@pytest.mark.parametrize(
    "text",
    [
        "GET https://api.example.com:443/v1/orders @kirim 200",
        "http://127.0.0.1:8480/@name",
        "image sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "api_key alarm raised: kind=api_key order=k-1",
        '{"kind": "api_key", "order": "k-1"}',
        "password authentication failed for user kirim",
        "the bearer token is missing",
        "basic checks passed",
        "svc-1 paid 25,000 sats at 10:15:30.123456",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "cm9x1k2l3000008l5g7h2a1b3 lnbcrt250u1pjexample",
    ],
)
def test_ordinary_lines_stay_readable(text: str) -> None:
    assert redact(text) == text


VALUES = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="\x7f"),
    min_size=redaction.SHORTEST_KNOWN,
    max_size=60,
)


@given(VALUES, AROUND, st.sampled_from([str, quote, quote_plus, lambda text: quote(text, safe=""), json.dumps, repr]))
def test_a_known_value_goes_in_every_form(value: str, before: str, form: Callable[[str], str]) -> None:
    assume(value not in f"{before}<secret><token>")
    redaction._known = redaction._Known()
    know_secrets([value])
    shown = form(value)[1:-1] if form in {json.dumps, repr} else form(value)
    said = redact(f"{before} {shown} ends")
    assert value not in said
    assert shown not in said


def test_a_short_value_goes_only_as_a_word_and_a_very_short_one_stays() -> None:
    know_secrets(["postgres", "kirim", ""])
    assert redact("user postgres of postgresql in kirim") == "user <secret> of postgresql in kirim"


def test_a_value_that_is_part_of_another_leaves_nothing_of_it() -> None:
    know_secrets(["abcdefgh12345678"])
    know_secrets(["abcdefgh12345678-abcdefgh12345678-tail", "abcdefgh"])
    assert redact("x abcdefgh12345678-abcdefgh12345678-tail abcdefgh12345678 abcdefgh") == (
        "x <secret> <secret> <secret>"
    )


def test_all_secrets_of_the_settings_are_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    keys = [base64.urlsafe_b64encode(bytes([number] * 32)).decode() for number in (1, 2)]
    settings = Settings(
        telegram_bot_token=SecretStr(TOKEN),
        service_api_key=SecretStr(KEY),
        service_base_url="https://service.example",
        encryption_keys=SecretStr(", ".join(keys)),
        database_url="postgresql://kirim:p%40ss/w@rd@db.example/kirim?password=in-a-parameter&sslpassword=of-a-key",
    )
    known = secret_values(settings)
    parts = {
        TOKEN.partition(":")[2],
        KEY.partition(".")[2],
        *keys,
        "p%40ss/w@rd",
        "p@ss/w@rd",
        "in-a-parameter",
        "of-a-key",
    }
    assert parts <= known
    assert not {"kirim", "https", "424242", "pk_live_k3y1d", "service.example"} & known
    monkeypatch.setenv("SERVICE_MCP_TRANSPORT", "http")
    monkeypatch.setenv("SERVICE_MCP_HTTP_TOKEN", "k" * 20 + "x")
    monkeypatch.setenv("SERVICE_API_KEY", KEY)
    assert {"k" * 20 + "x", KEY.partition(".")[2]} <= secret_values(AgentSettings())


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
