"""How clients show this server: its title, its icon and its website."""

import base64
from importlib import metadata
from pathlib import Path
from typing import Final

from mcp_types import Icon

import bot

TITLE: Final = "Kirim: send rupiah"
DESCRIPTION: Final = "Sends Indonesian rupiah to a bank account or e-wallet, paid in bitcoin over Lightning."
ICON_FILE: Final = Path(bot.__file__).parent / "orders/pay_page/static/icon.svg"


def load_icon() -> Icon:
    """Return the icon, as data. It is an SVG of 200 bytes, because newer clients get it with each answer."""
    data = base64.b64encode(ICON_FILE.read_bytes()).decode()
    return Icon(src=f"data:image/svg+xml;base64,{data}", mime_type="image/svg+xml", sizes=["any"])


def find_website() -> str | None:
    """Return the address of the repository, or None if the package was built without it, or isn't installed."""
    try:
        urls = metadata.metadata("kirim").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    named = dict(url.split(", ", 1) for url in urls)
    return named.get("Repository")
