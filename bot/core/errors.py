"""Rejections and remarks shown to users, as a catalogue key and its arguments.

Rejection            the input can't be accepted, and why
Remark               accepted, but the user has to confirm it ("BCA numbers usually have 10 digits")

A key only chooses the text. A reason that decides what happens next is a class in the package that raises it, such as
`AmountRejected` or `LimitReached`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


class Rejection(Exception):
    """The input can't be accepted. `key` names the sentence in the catalogue and `arguments` fill it.

    `str()` of the exception is the key alone, so that logs and tracebacks never show what a user typed.
    """

    key: str
    arguments: Mapping[str, object]

    def __init__(self, key: str, /, **arguments: object) -> None:
        super().__init__(key)
        self.key = key
        self.arguments = MappingProxyType(arguments)


@dataclass(frozen=True, slots=True)
class Remark:
    """The input is accepted but unusual. The user has to confirm it."""

    key: str
    arguments: Mapping[str, object] = field(default_factory=dict)
