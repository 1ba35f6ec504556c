"""What a tool answers: typed content for programs, a few words for people, and failures that say what to do instead.

    ToolError (the SDK's)
    └── Refusal     a call that brought nothing; its text is for the agent and may repeat the service's own words,
                    so it is never logged

Text that comes from outside may hold what JSON can spell and UTF-8 can't; it is made whole here, once.
"""

from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Refusal(ToolError):
    """A call that brought nothing, and what to send or do instead."""


class Output(BaseModel):
    """What all results share: names as the API has them, and texts that repeat no value where one doesn't fit."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, hide_input_in_errors=True)


def answer(result: Output, text: str, *pictures: ImageContent) -> CallToolResult:
    """`result` as typed content, and the same in words for whoever reads only those."""
    return CallToolResult(
        content=[TextContent(type="text", text=whole(text)), *pictures],
        structured_content=content_of(result),
    )


def content_of(result: Output) -> dict[str, Any]:
    """`result` as a JSON object."""
    content: dict[str, Any] = whole(result.model_dump(mode="json", by_alias=True))
    return content


def failure(text: str) -> CallToolResult:
    """A call that brought nothing; `text` says why, and what to do instead."""
    return CallToolResult(content=[TextContent(type="text", text=whole(text))], is_error=True)


def whole(value: Any) -> Any:  # noqa: ANN401  JSON is anything
    """A JSON value without halves of surrogate pairs, which no UTF-8 can carry."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {whole(key): whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole(item) for item in value]
    return value
