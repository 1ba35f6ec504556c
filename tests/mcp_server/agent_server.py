"""Create tool servers and official clients for tests, and share the work that is the same in each.

The SDK derives schemas from tool signatures and the client validates them. That takes a fifth of a second per test,
although the tools are the same in all.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships none
from mcp.server.mcpserver.tools import Tool

from bot.mcp_server.server import create_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bot.mcp_server.server import AgentServer
    from bot.mcp_server.service import Service

_make_tool = Tool.from_function
_check_schema = Draft202012Validator.check_schema
_tools: dict[Any, Tool] = {}
_checked: set[str] = set()


def tool_server(service: Service) -> AgentServer:
    """Return a new server that reuses the tool schemas of the first one."""
    with patch.object(Tool, "from_function", _tool_made_once):
        return create_server(service, name="kirim", version="1.2.3")


@contextmanager
def schemas_checked_once() -> Iterator[None]:
    """Validate each schema only once."""
    with patch.object(Draft202012Validator, "check_schema", _check_once):
        yield


def _tool_made_once(fn: Callable[..., Any], **more: Any) -> Tool:
    function = getattr(fn, "__func__", fn)
    if function not in _tools:
        _tools[function] = _make_tool(fn, **more)
    return _tools[function].model_copy(update={"fn": fn})


def _check_once(schema: dict[str, Any], *more: Any, **options: Any) -> None:
    text = json.dumps(schema, sort_keys=True)
    if text not in _checked:
        _check_schema(schema, *more, **options)
        _checked.add(text)
