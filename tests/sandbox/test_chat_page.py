"""The chat page's files and routes: nothing from other hosts, no text as markup, only the controls of the service."""

from __future__ import annotations

import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.payments.tokens import TOKENS
from bot.sandbox.page import CONTENT_SECURITY_POLICY, STATIC, routes
from bot.sandbox.settlement import SettlementSandboxSettings, create_app

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp

FILES = sorted(STATIC.iterdir())
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
CONTENTS = {path.name: path.read_bytes() for path in FILES}
SVG_NAMESPACE = "http://www.w3.org/2000/svg"
TEXT_FROM_OUTSIDE_AS_MARKUP = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser")


def name_of(path: Path) -> str:
    return path.name


class Settlement:
    """Replaces the settlement sandbox and remembers its requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str, bytes]] = []
        methods = ["GET", "POST", "DELETE"]
        self.app = Starlette(
            routes=[
                Route("/control/orders", self._orders, methods=methods),
                Route("/control/pay", self._refuse, methods=methods),
            ]
        )

    async def _orders(self, request: Request) -> Response:
        self.requests.append((request.method, request.url.path, request.url.query, await request.body()))
        return JSONResponse({"orders": []})

    async def _refuse(self, request: Request) -> Response:
        self.requests.append((request.method, request.headers["content-type"], "", await request.body()))
        return JSONResponse({"error": "the invoice has expired"}, status_code=409)


@asynccontextmanager
async def page_of(service: ASGIApp) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=routes(service))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://page") as client:
        yield client


@pytest.fixture
def settlement() -> Settlement:
    return Settlement()


@pytest.fixture
async def page(settlement: Settlement) -> AsyncIterator[httpx.AsyncClient]:
    async with page_of(settlement.app) as client:
        yield client


async def test_the_page_is_served_under_a_policy_that_allows_this_server_only(page: httpx.AsyncClient) -> None:
    answer = await page.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    sources = {word for rule in CONTENT_SECURITY_POLICY.split("; ") for word in rule.split()[1:]}
    assert sources == {"'none'", "'self'", "blob:"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
async def test_every_file_is_served_with_its_type_and_the_same_policy(page: httpx.AsyncClient, path: Path) -> None:
    answer = await page.get(f"/static/{path.name}")
    assert answer.status_code == 200
    assert answer.content == CONTENTS[path.name]
    expected = {".js": "javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}[path.suffix]
    assert expected in answer.headers["content-type"]
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_refers_to_another_host(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace(SVG_NAMESPACE, "")
    assert re.findall(r"(?:https?:)?//[\w-]+\.[\w.-]+|@import|data:image", text) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_no_script_takes_text_for_markup(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [word for word in TEXT_FROM_OUTSIDE_AS_MARKUP if word in text] == []


async def test_the_page_knows_every_token(page: httpx.AsyncClient) -> None:
    answer = await page.get("/static/tokens.js")
    assert "javascript" in answer.headers["content-type"]
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    known = json.loads(answer.text.removeprefix("export const TOKENS = ").removesuffix(";\n"))
    facts = [(one["channel"], one["symbol"], one["chain"], one["chainId"], one["contract"]) for one in known]
    assert facts == [
        (token.code, token.symbol, token.chain.name, token.chain.id, token.contract) for token in TOKENS.values()
    ]
    assert [one["decimals"] for one in known] == [token.decimals for token in TOKENS.values()]


@pytest.mark.parametrize("path", ["%2e%2e/v1/quote/btc-idr", "orders/%2e%2e/%2e%2e/v1", "%2e/orders", "/orders", ""])
async def test_the_page_never_leaves_the_control_endpoints(path: str) -> None:
    async with page_of(create_app(SettlementSandboxSettings())) as page:
        assert (await page.get(f"/service/{path}")).status_code == 404
