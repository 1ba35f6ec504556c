"""Create tool servers and official clients for tests, and share the work that is the same in each.

The SDK derives schemas from the signatures of tools, resources and prompts, and the client validates them. That takes a
fifth of a second per test, although they are the same in all.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships none
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import ResourceTemplate
from mcp.server.mcpserver.tools import Tool
from pydantic import validate_call

from bot.mcp_server.server import create_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bot.mcp_server.server import AgentServer
    from bot.mcp_server.service import Service

_make_tool, _make_template, _make_prompt = Tool.from_function, ResourceTemplate.from_function, Prompt.from_function
_check_schema = Draft202012Validator.check_schema
_tools: dict[Any, Tool] = {}
_templates: dict[str, ResourceTemplate] = {}
_prompts: dict[Any, Prompt] = {}
_checked: set[str] = set()


def tool_server(service: Service) -> AgentServer:
    """Return a new server that reuses the schemas of the first one."""
    with (
        patch.object(Tool, "from_function", _tool_made_once),
        patch.object(ResourceTemplate, "from_function", _template_made_once),
        patch.object(Prompt, "from_function", _prompt_made_once),
    ):
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


def _template_made_once(fn: Callable[..., Any], uri_template: str, **more: Any) -> ResourceTemplate:
    if uri_template not in _templates:
        _templates[uri_template] = _make_template(fn, uri_template, **more)
    return _templates[uri_template].model_copy(update={"fn": validate_call(fn)})


def _prompt_made_once(fn: Callable[..., Any], **more: Any) -> Prompt:
    if fn not in _prompts:
        _prompts[fn] = _make_prompt(fn, **more)
    return _prompts[fn]


def _check_once(schema: dict[str, Any], *more: Any, **options: Any) -> None:
    text = json.dumps(schema, sort_keys=True)
    if text not in _checked:
        _check_schema(schema, *more, **options)
        _checked.add(text)
