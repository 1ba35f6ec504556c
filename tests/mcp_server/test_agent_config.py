"""The agent tool server's environment: every variable, which wins, and the message for a wrong one."""

import base64
import hashlib
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bot.config import ConfigError
from bot.mcp_server.config import STANDARD_SERVICE, AgentSettings, is_weak, load

API_KEY = "pk_live_tenant1.s3cr3t-s3cr3t"
TOKEN = "wG7pXkq2sVd4yB0nTz-3fLr8hJc5mE_aUo1QvSiN6Kw"
HTTP = {"SERVICE_MCP_TRANSPORT": "http", "SERVICE_MCP_HTTP_TOKEN": TOKEN}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in AgentSettings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def read_settings(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set the key and more variables. Return the resulting settings."""

    def settings(**more: str) -> AgentSettings:
        for name, value in {"SERVICE_API_KEY": API_KEY, **more}.items():
            monkeypatch.setenv(name, value)
        return load()

    return settings


def test_the_key_alone_is_enough_for_stdio(read_settings: Any) -> None:
    settings = read_settings()
    assert settings.service_api_key.get_secret_value() == API_KEY
    assert (settings.service_base_url, settings.is_service_assumed) == (STANDARD_SERVICE, True)
    assert (settings.service_mcp_transport, settings.service_mcp_http_token) == ("stdio", None)
    assert (settings.service_mcp_host, settings.http_port) == ("127.0.0.1", 3333)
    assert (settings.service_mcp_allowed_hosts, settings.service_mcp_rate_limit_per_minute) == ((), 60)
    assert (settings.service_mcp_name, settings.service_mcp_log_level) == ("kirim", "info")
    assert (settings.min_order_idr, settings.invoice_network) == (20_000, "bc")
    assert settings.key_id == "pk_live_tenant1"


@pytest.mark.parametrize(
    ("name", "value", "means"),
    [
        ("SERVICE_BASE_URL", "https://service.example/base/", "https://service.example/base"),
        ("SERVICE_MCP_TRANSPORT", " STDIO ", "stdio"),
        ("SERVICE_MCP_NAME", "Rupiah", "Rupiah"),
        ("SERVICE_MCP_LOG_LEVEL", "WARN", "warn"),
        ("MIN_ORDER_IDR", "50000", 50_000),
        ("INVOICE_NETWORK", "bcrt", "bcrt"),
    ],
)
def test_what_is_set_counts(read_settings: Any, name: str, value: str, means: object) -> None:
    settings = read_settings(**{name: value})
    assert getattr(settings, name.lower()) == means
    assert settings.is_service_assumed is (name != "SERVICE_BASE_URL")


@pytest.mark.parametrize(
    ("name", "value", "means"),
    [
        ("SERVICE_MCP_HOST", "0.0.0.0", "0.0.0.0"),  # noqa: S104  nothing listens here
        ("SERVICE_MCP_ALLOWED_HOSTS", " Tools.Example.com , [::1]:3333,", ("tools.example.com", "[::1]:3333")),
        ("SERVICE_MCP_RATE_LIMIT_PER_MINUTE", "5", 5),
    ],
)
def test_what_is_set_for_http_counts_there(read_settings: Any, name: str, value: str, means: object) -> None:
    assert getattr(read_settings(**HTTP, **{name: value}), name.lower()) == means


@pytest.mark.parametrize(
    ("ports", "port"),
    [
        ({}, 3333),
        ({"SERVICE_MCP_PORT": "4000"}, 4000),
        ({"PORT": "8080"}, 8080),
        ({"SERVICE_MCP_PORT": "4000", "PORT": "8080"}, 8080),
        ({"SERVICE_MCP_PORT": "4000", "PORT": ""}, 4000),
    ],
)
def test_the_platforms_port_goes_before_our_own(read_settings: Any, ports: dict[str, str], port: int) -> None:
    assert read_settings(**HTTP, **ports).http_port == port


def test_over_stdio_what_only_http_needs_is_not_even_looked_at(read_settings: Any) -> None:
    settings = read_settings(
        PORT="unix:/somewhere",
        SERVICE_MCP_PORT="many",
        SERVICE_MCP_ALLOWED_HOSTS="no host at all",
        SERVICE_MCP_RATE_LIMIT_PER_MINUTE="-1",
        SERVICE_MCP_HTTP_TOKEN="not a token",
    )
    assert (settings.http_port, settings.service_mcp_allowed_hosts) == (3333, ())


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"SERVICE_API_KEY": "hunter2"}, "SERVICE_API_KEY"),
        ({"SERVICE_BASE_URL": "ftp://hunter2"}, "SERVICE_BASE_URL"),
        ({"SERVICE_BASE_URL": "https://me:hunter2@service.example"}, "SERVICE_BASE_URL"),
        ({"SERVICE_MCP_TRANSPORT": "hunter2"}, "SERVICE_MCP_TRANSPORT"),
        ({"SERVICE_MCP_NAME": "hunter2" * 20}, "SERVICE_MCP_NAME"),
        ({"MIN_ORDER_IDR": "0"}, "MIN_ORDER_IDR"),
        ({"INVOICE_NETWORK": "HUNTER2"}, "INVOICE_NETWORK"),
        ({"SERVICE_MCP_TRANSPORT": "http"}, "SERVICE_MCP_HTTP_TOKEN: required"),
        (HTTP | {"SERVICE_MCP_HTTP_TOKEN": "hunter2 hunter2"}, "SERVICE_MCP_HTTP_TOKEN"),
        (HTTP | {"PORT": "hunter2"}, "PORT: must be a port"),
        (HTTP | {"SERVICE_MCP_PORT": "0"}, "SERVICE_MCP_PORT: must be a port"),
        ({"MIN_ORDER_IDR": "20.000"}, "MIN_ORDER_IDR: must be a whole number .* without separators of thousands"),
        ({"MIN_ORDER_IDR": "0", "SERVICE_MCP_ALLOWED_HOST": "a"}, "SERVICE_MCP_ALLOWED_HOST: no setting has this name"),
        (HTTP | {"SERVICE_MCP_ALLOWED_HOSTS": "https://hunter2/"}, "SERVICE_MCP_ALLOWED_HOSTS"),
        (HTTP | {"SERVICE_MCP_RATE_LIMIT_PER_MINUTE": "0"}, "SERVICE_MCP_RATE_LIMIT_PER_MINUTE"),
    ],
)
def test_a_bad_one_is_named_without_its_value(read_settings: Any, settings: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError, match=named) as refused:
        read_settings(**settings)
    assert "hunter2" not in str(refused.value).lower()
    assert TOKEN not in str(refused.value)


WEAK = [
    "a",
    TOKEN[:31],
    "a" * 64,
    "ab" * 32,
    "correct-horse-battery"[:20] * 3,
    "0123456789" * 5,
    "abcdefghijklmnopqrstuvwxyz-0123456789_",
    "9876543210zyxwvutsrqponmlkjihgfedcba",
    "secret-token-of-the-kirim-service-1",
    "CHANGEME-change-me-Password-qwerty-admin-1",
    f"{TOKEN[:20]}-secret-token-kirim",
]


@pytest.mark.parametrize("token", WEAK)
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.2", "tools.example.com", "localhost.example.com"])  # noqa: S104
def test_a_token_that_can_be_guessed_is_refused_where_others_can_try(read_settings: Any, host: str, token: str) -> None:
    with pytest.raises(ConfigError, match="SERVICE_MCP_HTTP_TOKEN: can be guessed") as refused:
        read_settings(**HTTP | {"SERVICE_MCP_HTTP_TOKEN": token, "SERVICE_MCP_HOST": host})
    assert "secrets.token_urlsafe(32)" in str(refused.value)
    assert token == "a" or token not in str(refused.value)


@given(st.binary(min_size=32, max_size=64))
def test_a_random_token_in_any_usual_form_is_strong(drawn: bytes) -> None:
    assume(len(set(drawn)) > 20)
    # Hypothesis likes patterns, which random bytes don't have.
    drawn = hashlib.sha256(drawn).digest()
    for token in (base64.urlsafe_b64encode(drawn).decode(), base64.urlsafe_b64encode(drawn).decode().rstrip("=")):
        assert not is_weak(token)
        assert not is_weak(f"kirim-token_{token}")
    assert not is_weak(drawn.hex())
    assert not is_weak(str(uuid.UUID(bytes=drawn[:16])))


def test_all_that_is_wrong_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"SERVICE_MCP_TRANSPORT": "http", "PORT": "x", "MIN_ORDER_IDR": "x", "SERVICE_BASE_URL": "x"}
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as refused:
        load()
    for name in ("SERVICE_API_KEY", "SERVICE_MCP_HTTP_TOKEN", "PORT", "MIN_ORDER_IDR", "SERVICE_BASE_URL"):
        assert f"  {name}: " in str(refused.value)


def test_secrets_are_not_shown_by_the_settings_themselves(read_settings: Any) -> None:
    assert "s3cr3t" not in repr(read_settings(**HTTP))
    assert TOKEN not in repr(read_settings(**HTTP))
