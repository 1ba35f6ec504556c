"""The website that clients show."""

from email.message import Message
from importlib import metadata

import pytest

from bot.mcp_server.server import find_website


@pytest.mark.parametrize(
    ("urls", "website"),
    [
        ((), None),
        (("Issues, https://code.example/kirim/issues",), None),
        (("Issues, https://code.example/x", "Repository, https://code.example/kirim"), "https://code.example/kirim"),
    ],
)
def test_the_website_is_the_repository_if_the_package_has_it(
    monkeypatch: pytest.MonkeyPatch, urls: tuple[str, ...], website: str | None
) -> None:
    package = Message()
    for url in urls:
        package["Project-URL"] = url
    monkeypatch.setattr(metadata, "metadata", lambda _name: package)
    assert find_website() == website


def test_there_is_no_website_if_the_package_isnt_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", fail)
    assert find_website() is None
