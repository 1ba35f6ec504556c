"""The ports of a sandbox are checked before it starts, and each problem is said in plain words."""

from __future__ import annotations

import socket
from contextlib import ExitStack

import pytest

from bot.sandbox import ports
from tests.ports import free_port

OPTIONS = ("--port", "--service-port", "--wallet-port")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_port_in_use_is_named_with_its_option_in_one_sentence_and_what_to_do(number: int) -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server((ports.HOST, 0))) for _ in OPTIONS[:number]]
        taken = {option: server.getsockname()[1] for option, server in zip(OPTIONS, servers, strict=False)}
        free = {option: free_port() for option in OPTIONS[number:]}
        with pytest.raises(ports.PortsUnusable) as raised:
            ports.check(taken | free)
    said = str(raised.value)
    assert all(f"{port} ({option})" in said for option, port in taken.items())
    assert not any(option in said for option in free)
    assert said.count(" in use. Stop the program") == 1


def test_free_ports_are_fine_and_stay_free() -> None:
    chosen = {option: free_port() for option in OPTIONS}
    ports.check(chosen)
    for port in chosen.values():
        socket.create_server((ports.HOST, port)).close()
    ports.check(dict.fromkeys(OPTIONS, 0))
