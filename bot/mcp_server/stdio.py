"""The stdio transport: one JSON-RPC message per line, and nothing else on stdout.

The SDK reads and writes the lines, and drops those that aren't messages. When the client closes its end, running calls
get a moment to finish, because one of them can be creating an order.
"""

import anyio
import structlog
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from bot.mcp_server.server import AgentServer

ENDS_WITHIN_SECONDS = 4.0
LOOK_EVERY_SECONDS = 0.05

log = structlog.get_logger(__name__)


async def serve(server: AgentServer) -> int:
    """Serve the client that started this process until it closes stdin. Return the exit code."""
    try:
        async with stdio_server() as (lines, answers), anyio.create_task_group() as tasks:
            to_server, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            replies, from_server = anyio.create_memory_object_stream[SessionMessage](0)
            running = set[object]()

            async def read() -> None:
                async with to_server:
                    async for item in lines:
                        if isinstance(item, SessionMessage):
                            _note_request(running, item)
                            await to_server.send(item)
                    with anyio.move_on_after(ENDS_WITHIN_SECONDS):
                        while running:  # noqa: ASYNC110  only at the end
                            await anyio.sleep(LOOK_EVERY_SECONDS)

            async def write() -> None:
                async with answers:
                    async for item in from_server:
                        await answers.send(item)
                        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                            running.discard(item.message.id)

            tasks.start_soon(read)
            tasks.start_soon(write)
            await server.run_over(messages, replies)
    except* BrokenPipeError:
        # The client stopped reading, so nobody gets an answer.
        log.info("client_disconnected")
    return 0


def _note_request(running: set[object], item: SessionMessage) -> None:
    match item.message:
        case JSONRPCRequest(id=request_id):
            running.add(request_id)
        case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as cancelled}):
            # It won't be answered.
            running.discard(cancelled)
