"""Which authorities the bot's connections trust."""

import inspect
import ssl
from pathlib import Path
from typing import Any

import certifi
import pytest

from bot.infra.tls import get_tls_context
from tests.infra.certificates import write_certificate


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What the authorities are read from."""
    arguments: dict[str, object] = {}
    create: Any = inspect.unwrap(ssl.create_default_context)  # the tests share one context

    def create_default_context(**given: object) -> ssl.SSLContext:
        arguments.update(given)
        context: ssl.SSLContext = create(**given)
        return context

    monkeypatch.setattr(ssl, "create_default_context", create_default_context)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return arguments


def test_without_a_setting_the_authorities_are_those_of_certifi(read: dict[str, object]) -> None:
    context = get_tls_context.__wrapped__()
    assert read == {"cafile": certifi.where()}
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert len(context.get_ca_certs()) > 50


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_an_operator_can_replace_the_authorities(
    name: str, read: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_certificate(tmp_path)
    value = str(tmp_path / "root.pem") if name == "SSL_CERT_FILE" else str(tmp_path)
    monkeypatch.setenv(name, value)
    context = get_tls_context.__wrapped__()
    assert list(read.values()) == [value]
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
