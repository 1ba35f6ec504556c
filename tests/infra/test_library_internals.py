"""What the bot uses of libraries beyond their documentation. Each part fails here if the library changes it.

Such a change can come with any minor version, so each of these libraries is declared with its next minor version
excluded. Raise a limit together with its library, after these tests.
"""

import asyncio
import inspect
import re
import tomllib
from importlib.metadata import version
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from packaging.requirements import Requirement
from packaging.version import Version
from sqlalchemy import Dialect, create_engine, literal, select
from sqlalchemy.engine import cursor
from sqlalchemy.util import LRUCache
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from bot.infra.db.sqlite import SQLITE_OPTIONS, StatementCache
from tests.architecture.source import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("name", ["aiohttp", "mcp", "sqlalchemy", "uvicorn"])
def test_a_library_with_an_internal_in_use_is_not_replaced_by_its_next_minor_version(name: str) -> None:
    declared = [Requirement(each) for each in PROJECT["dependencies"]]
    (specifier,) = (each.specifier for each in declared if each.name == name)
    installed = Version(version(name))
    assert installed in specifier
    assert Version(f"{installed.major}.{installed.minor + 1}") not in specifier


async def test_uvicorns_protocol_has_what_our_connections_use() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        del scope, receive, send

    config = uvicorn.Config(app, http=H11Protocol, lifespan="off", log_config=None)
    state = ServerState()
    protocol = H11Protocol(config, state, {})
    assert protocol.cycle is None
    protocol.connection_made(asyncio.Transport())
    assert protocol.connections is state.connections
    assert protocol in state.connections
    assert isinstance(protocol.transport, asyncio.Transport)
    assert not protocol.flow.write_paused
    assert protocol.loop is asyncio.get_running_loop()
    assert list(inspect.signature(protocol.on_response_complete).parameters) == []
    assert {"self.more_body", "self.response_complete"} <= set(
        re.findall(r"self\.\w+", inspect.getsource(RequestResponseCycle))
    )


def test_uvicorns_server_has_what_our_servers_replace() -> None:
    assert list(inspect.signature(uvicorn.Server.startup).parameters) == ["self", "sockets"]
    assert list(inspect.signature(uvicorn.Server.capture_signals).parameters) == ["self"]
    assert "with self.capture_signals()" in inspect.getsource(uvicorn.Server.serve)


def test_mcps_server_runs_over_given_streams() -> None:
    inner = MCPServer("test")._lowlevel_server
    names = list(inspect.signature(inner.run).parameters)
    assert names[:3] == ["read_stream", "write_stream", "initialization_options"]
    assert inner.create_initialization_options().server_name == "test"


@pytest.mark.parametrize(("cache", "kept"), [(LRUCache[Any, Any](10), 2), (StatementCache(10), 1)])
def test_sqlalchemys_key_of_a_compiled_statement_begins_with_its_dialect(cache: LRUCache[Any, Any], kept: int) -> None:
    for _ in range(2):
        engine = create_engine("sqlite://", execution_options={"compiled_cache": cache})
        with engine.connect() as connection:
            assert connection.scalar(select(literal(7))) == 7
        engine.dispose()
    assert len(cache) == kept, "the cache of ours isn't needed, if both keep the same"
    assert any(isinstance(part, Dialect) for key in cache for part in key) is (kept == 2)


def test_sqlalchemys_result_can_be_left_without_the_columns_of_its_statement() -> None:
    assert "_result_disable_adapt_to_context" in inspect.getsource(cursor)
    engine = create_engine("sqlite://", execution_options=dict(SQLITE_OPTIONS))
    with engine.connect() as connection:
        for number in (7, 8):  # the second one is found in the cache
            asked = literal(number).label("asked")
            row = connection.execute(select(asked)).one()
            assert row.asked == number
            assert (asked in row._mapping) is (number == 7), "the option isn't needed if it changes nothing"
    engine.dispose()
