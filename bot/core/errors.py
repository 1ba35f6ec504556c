"""What a person is told or asked, as a key and its arguments: sentences belong to the catalogues.

Rejection            what was typed or tapped can't be accepted, and why
Remark               accepted, but worth a question first ("BCA numbers usually have 10 digits")
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


class Rejection(Exception):
    """What was typed or tapped can't be accepted; `key` names the sentence, `arguments` fill it.

    The exception's own text is the key alone, so that a log or a traceback never shows what a person typed.
    """

    key: str
    arguments: Mapping[str, object]

    def __init__(self, key: str, /, **arguments: object) -> None:
        super().__init__(key)
        self.key = key
        self.arguments = MappingProxyType(arguments)


@dataclass(frozen=True, slots=True)
class Remark:
    """Something accepted but unusual; the person is asked whether it is meant."""

    key: str
    arguments: Mapping[str, object] = field(default_factory=dict)
