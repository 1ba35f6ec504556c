"""The stdio transport: one JSON-RPC message per line, and nothing else on stdout.

The SDK reads and writes the lines, and drops those that aren't messages. When the client closes its end, running calls
get a moment to finish.
"""

from collections.abc import AsyncIterable
from typing import Protocol

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

from bot.mcp_server.server import AgentServer

ENDS_WITHIN_SECONDS = 4.0

log = structlog.get_logger(__name__)


async def serve(server: AgentServer) -> int:
    """Serve the client that started this process until it closes stdin. Return the exit code."""
    try:
        async with stdio_server() as (lines, answers):
            await StdioSession(lines, answers).serve(server)
    except* BrokenPipeError:
        # The client stopped reading, so nobody gets an answer.
        log.info("client_disconnected")
    return 0


class Answers(Protocol):
    """The stream of lines to the client."""

    async def send(self, item: SessionMessage, /) -> None:
        """Write one line."""
        ...

    async def aclose(self) -> None:
        """Close the stream."""
        ...


class StdioSession:
    """Pass messages between a client and the server. At the end, running calls get `grace_seconds` to finish."""

    def __init__(
        self,
        lines: AsyncIterable[SessionMessage | Exception],
        answers: Answers,
        grace_seconds: float = ENDS_WITHIN_SECONDS,
    ) -> None:
        self._lines, self._answers, self._grace_seconds = lines, answers, grace_seconds
        self._running: set[RequestId] = set()
        self._answered = anyio.Event()

    async def serve(self, server: AgentServer) -> None:
        """Carry messages in both directions until there are no more lines."""
        to_server, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        replies, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._forward_messages, to_server)
            tasks.start_soon(self._forward_replies, from_server)
            await server.run_over(messages, replies)

    async def _forward_messages(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with to_server:
            async for item in self._lines:
                if isinstance(item, SessionMessage):
                    self._track(item)
                    await to_server.send(item)
            with anyio.move_on_after(self._grace_seconds):
                while self._running:
                    await self._answered.wait()

    def _track(self, item: SessionMessage) -> None:
        match item.message:
            case JSONRPCRequest(id=request_id):
                self._running.add(request_id)
            case JSONRPCNotification(
                method="notifications/cancelled", params={"requestId": str() | int() as cancelled}
            ):
                # It won't be answered.
                self._running.discard(cancelled)

    async def _forward_replies(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async for item in from_server:
            await self._answers.send(item)
            if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
                self._running.discard(item.message.id)
                self._answered.set()
                self._answered = anyio.Event()
        await self._answers.aclose()
