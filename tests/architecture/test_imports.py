"""Which modules import a library: by their names, so that a new module needs no entry in a list.

import-linter holds the direction between packages, and what `model` and `screens` know. This holds the rest: a
module that isn't named here knows no driver, no transport and no framework.
"""

import ast
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.source import nodes

MAY_IMPORT: Final = {
    "sqlalchemy": (
        "*.tables",
        "*_tables",
        "*.repository",
        "*_repository",
        "*.rows",
        "*.user_data",
        "infra.db.*",
        "infra.leases.*",
        "infra.telegram.inbound.repository",
        "migrations.*",
    ),
    "alembic": ("infra.db.*", "migrations.*"),
    "aiosqlite": ("infra.db.sqlite",),
    "asyncpg": ("infra.db.*",),
    "telegram": (
        "*.handlers",
        "*_handlers",
        "app",
        "checkout.conversation",
        "home.command_menus",
        "home.feature",
        "infra.telegram.*",
        "operations.check",
        "operations.feature",
        "operations.heartbeat",
        "process",
        "support.entries",
        "support.replies",
        "support.session",
        "updates",
        "users.questions",
        "users.session",
    ),
    "aiohttp": ("infra.telegram.transport",),
    "httpx": ("operations.heartbeat", "settlement.transport"),
    "pydantic": ("app", "config", "infra.outbox.repository", "mcp_server.*", "operations.check", "settlement.reading"),
    "pydantic_settings": ("config", "mcp_server.config"),
    "mcp": ("mcp_server.*",),
    "prometheus_client": (
        "broadcasts.messages",
        "infra.*",
        "operations.gauges",
        "orders.placement.submission",
        "orders.tracking.tracker",
        "settlement.health",
    ),
    "starlette": ("infra.http.*", "mcp_server.*", "orders.pay_page.*", "payment_requests.paying.pages", "web_servers"),
    "uvicorn": ("infra.http.*",),
    "jinja2": ("orders.pay_page.*",),
    "qrcode": ("payments.qr",),
    "PIL": ("infra.drawing.*", "payments.qr"),
}
"""Library -> the names of the modules that may import it, without `bot.`."""


def _module(path: Path) -> str:
    """Return the name of the module in the file, without `bot.`: `orders.tables`."""
    return ".".join(part for part in path.with_suffix("").parts[1:] if part != "__init__")


@pytest.fixture(scope="module")
def imports() -> AbstractSet[tuple[str, str]]:
    """Each module with each library that it imports."""
    found = set()
    for path, node in nodes():
        if isinstance(node, ast.Import):
            found |= {(_module(path), alias.name.partition(".")[0]) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add((_module(path), node.module.partition(".")[0]))
    return found


@pytest.mark.parametrize("library", MAY_IMPORT)
def test_only_modules_with_the_right_names_import_a_library(
    library: str, imports: AbstractSet[tuple[str, str]]
) -> None:
    allowed = MAY_IMPORT[library]
    importers = {module for module, imported in imports if imported == library}
    assert {each for each in importers if not any(fnmatchcase(each, name) for name in allowed)} == set()
