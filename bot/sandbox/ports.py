"""The ports of a sandbox. They are checked before anything is started or deleted."""

from __future__ import annotations

import errno
import os
import socket
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST: Final = "127.0.0.1"


class PortsUnusable(Exception):
    """A port can't be opened. The text says which, and what to do about it."""


def check(ports: Mapping[str, int]) -> None:
    """Check that these ports can be opened. They are keyed by the option that chooses them. Port 0 is any free one.

    Raises:
        PortsUnusable: one can't be, or two options name the same.
    """
    chosen = {option: port for option, port in ports.items() if port}
    for option, port in chosen.items():
        if same := [other for other in chosen if other != option and chosen[other] == port]:
            raise PortsUnusable(f"{option} and {same[0]} are both {port}. Choose two different ports.")
    problems = {option: _find_problem(port) for option, port in chosen.items()}
    taken = [f"{chosen[option]} ({option})" for option, problem in problems.items() if problem == errno.EADDRINUSE]
    if taken:
        raise PortsUnusable(_describe_taken(taken))
    for option, problem in problems.items():
        if problem is not None:
            raise PortsUnusable(
                f"Port {chosen[option]} can't be opened: {os.strerror(problem)}. Choose another one with {option}."
            )


def choose_free() -> int:
    """Return a port that is free now."""
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


def _describe_taken(taken: list[str]) -> str:
    if len(taken) == 1:
        return f"Port {taken[0]} is in use. Stop the program that uses it, or choose another port with the option."
    listed = f"{', '.join(taken[:-1])} and {taken[-1]}"
    return f"Ports {listed} are in use. Stop the program that uses them, or choose other ports with the options."


def _find_problem(port: int) -> int | None:
    """Return the number of the error that opening the port gives, or None if it can be opened."""
    with socket.socket() as probe:
        # Connections of an earlier sandbox that are still closing don't matter.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError as error:
            return error.errno
    return None
