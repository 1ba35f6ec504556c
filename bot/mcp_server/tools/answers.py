"""Answers of tools: typed content for programs, a short text, and errors that say what to do.

    ToolError (the SDK's)
    └── Refusal     a rejected call; its text is for the agent and can repeat the service's words, so it is never logged

Text from outside can hold characters that JSON can spell and UTF-8 can't. They are replaced here.
"""

from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Refusal(ToolError):
    """A rejected call, and what to send or do instead."""


class Output(BaseModel):
    """The base of all results: the API's names, and error texts without values."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, hide_input_in_errors=True)


def answer(result: Output, text: str, *pictures: ImageContent) -> CallToolResult:
    """Return `result` as typed content and as text, for clients that read only text."""
    return CallToolResult(
        content=[TextContent(type="text", text=replace_surrogates(text)), *pictures],
        structured_content=to_content(result),
    )


def to_content(result: Output) -> dict[str, Any]:
    """Return `result` as a JSON object."""
    content: dict[str, Any] = replace_surrogates(result.model_dump(mode="json", by_alias=True))
    return content


def error_result(text: str) -> CallToolResult:
    """Return an error. `text` says what is wrong and what to do."""
    return CallToolResult(content=[TextContent(type="text", text=replace_surrogates(text))], is_error=True)


def replace_surrogates(value: Any) -> Any:  # noqa: ANN401  JSON is anything
    """Return a JSON value without halves of surrogate pairs, which UTF-8 can't encode."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [replace_surrogates(item) for item in value]
    return value
