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
# (ink, background), as in the style sheets.
PAIRS = [
    ("ink", "ground"),
    ("ink", "surface"),
    ("ink", "bubble-out"),
    ("ink-2", "ground"),
    ("ink-2", "surface"),
    ("ink-2", "surface-2"),
    ("ink-2", "accent-soft"),
    ("accent", "surface"),
    ("accent", "accent-soft"),
    ("accent-ink", "accent"),
    ("link", "bubble-in"),
    ("link", "bubble-out"),
    ("danger", "surface"),
    ("danger", "danger-soft"),
    ("ink", "danger-soft"),
    ("ink", "warn-soft"),
    ("ink", "accent-soft"),
    ("success", "surface-2"),
    ("success", "success-soft"),
    ("warn", "warn-soft"),
]


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


async def test_a_file_that_has_not_changed_is_not_sent_again(page: httpx.AsyncClient) -> None:
    first = await page.get("/static/app.js")
    again = await page.get("/static/app.js", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304
    assert again.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("path", ["/static/", "/static/none.js", "/static/../page.py", "/static/%2e%2e/page.py", "/x"])
async def test_what_is_not_there_is_404(page: httpx.AsyncClient, path: str) -> None:
    assert (await page.get(path)).status_code == 404


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


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
async def test_every_import_leads_to_a_file_that_exports_the_name(page: httpx.AsyncClient, path: Path) -> None:
    text = CONTENTS[path.name].decode()
    for names, target in re.findall(r"import \{([^}]+)\} from \"\./([^\"]+)\"", text):
        exported = (await page.get(f"/static/{target}")).text
        for name in names.split(","):
            assert re.search(rf"export (?:async )?(?:function|class|const) {name.strip()}\b", exported), (target, name)
    assert text.count("import ") == text.count('} from "./')


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_every_script_says_why_it_exists_and_fits_the_eye(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("// ")
    assert len(lines) <= 250


def test_the_page_holds_no_script_or_style_of_its_own_and_every_link_leads_somewhere() -> None:
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", html) == []
    linked = re.findall(r"(?:href|src)=\"([^\"]+)\"", html)
    assert linked
    assert all((STATIC / link.removeprefix("/static/")).is_file() for link in linked)


async def test_a_control_request_goes_through_with_its_query_and_body(
    page: httpx.AsyncClient, settlement: Settlement
) -> None:
    answer = await page.get("/service/orders", params={"limit": "3", "bolt11": "ln+1 &x"})
    assert (answer.status_code, answer.json()) == (200, {"orders": []})
    await page.request("DELETE", "/service/orders", content=b'{"a":1}')
    assert settlement.requests[0][:2] == ("GET", "/control/orders")
    assert httpx.QueryParams(settlement.requests[0][2]) == httpx.QueryParams({"limit": "3", "bolt11": "ln+1 &x"})
    assert settlement.requests[1] == ("DELETE", "/control/orders", "", b'{"a":1}')


async def test_a_refusal_comes_back_as_it_was_said(page: httpx.AsyncClient, settlement: Settlement) -> None:
    answer = await page.post("/service/pay", json={"bolt11": "lnbcrt1"})
    assert (answer.status_code, answer.json()) == (409, {"error": "the invoice has expired"})
    assert settlement.requests == [("POST", "application/json", "", b'{"bolt11":"lnbcrt1"}')]


@pytest.mark.parametrize("path", ["%2e%2e/v1/quote/btc-idr", "orders/%2e%2e/%2e%2e/v1", "%2e/orders", "/orders", ""])
async def test_the_page_never_leaves_the_control_endpoints(path: str) -> None:
    async with page_of(create_app(SettlementSandboxSettings())) as page:
        assert (await page.get(f"/service/{path}")).status_code == 404


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), PAIRS)
def test_ink_stands_out_from_its_ground(ink: str, ground: str, theme: int) -> None:
    css = (STATIC / "base.css").read_text(encoding="utf-8")
    tokens = {name: (light, dark) for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", css)}
    lighter, darker = sorted((luminance(tokens[name][theme]) for name in (ink, ground)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """Return the relative luminance of the accessibility guidelines (WCAG 2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
