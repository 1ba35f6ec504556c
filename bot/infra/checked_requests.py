"""Requests of aiohttp that are checked directly before their first byte is written.

A process can stop at any line. A check before a request sees nothing of what happens while it waits for a connection.
After the check in this module, no other task runs and nothing is awaited before the request is handed to the system.
"""

from collections.abc import Callable

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.connector import Connection


def create_request_class(check: Callable[[], None]) -> type[aiohttp.ClientRequest]:
    """Return aiohttp's class of requests with a check. If `check` raises, nothing is sent and the request fails so."""

    class Request(aiohttp.ClientRequest):
        async def send(self, conn: Connection) -> aiohttp.ClientResponse:
            # A body is written later, by a task of its own, and the headers together with it.
            if not self.body:
                check()
            return await super().send(conn)

        async def write_bytes(
            self, writer: AbstractStreamWriter, conn: Connection, content_length: int | None = None
        ) -> None:
            try:
                check()
            except Exception as error:  # noqa: BLE001  whoever waits for the answer gets it
                if conn.protocol is not None:
                    conn.protocol.set_exception(error)
            else:
                await super().write_bytes(writer, conn, content_length)

    return Request
