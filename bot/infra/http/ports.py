"""Ports that servers listen on."""

import asyncio
import socket

RETRY_SECONDS = 0.25


class PortTaken(Exception):
    """A server can't listen on its port. The message says why, for the operator."""


async def bind(host: str, port: int, *, retry_seconds: float = 0) -> socket.socket:
    """Open the port. Try again for `retry_seconds`, because a process that lost the lead can still hold the port.

    Raises:
        PortTaken: the port can't be opened.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + retry_seconds
    while True:
        try:
            return await _bind_once(host, port)
        except OSError as error:
            if loop.time() >= until:
                raise PortTaken(f"{host} port {port}: {error.strerror or error}") from None
        await asyncio.sleep(RETRY_SECONDS)


async def _bind_once(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = (
        await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.setblocking(False)  # noqa: FBT003  the socket module's signature
    except OSError:
        listener.close()
        raise
    return listener
