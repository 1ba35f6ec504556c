"""The tools' server and the official client, sparing each test what they would work out anew from what never changes.

The SDK makes schemas of a tool's signature, and the client looks whether a schema is one: a fifth of a second for each
test, though the tools are the same in all of them.
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
    """A server of its own, whose tools' schemas were made for the first one."""
    with patch.object(Tool, "from_function", _tool_made_once):
        return create_server(service, name="kirim", version="1.2.3")


@contextmanager
def schemas_checked_once() -> Iterator[None]:
    """Whoever looks whether a schema is one finds those that were found good before to be so at once."""
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
