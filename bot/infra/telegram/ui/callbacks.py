"""The callback data of buttons: a base class that packs and reads it.

A button is a frozen dataclass over `Callback`. Its data is the prefix and the fields, joined by colons:

    @dataclass(frozen=True)
    class OrderButton(Callback, prefix="o"):
        reference: Annotated[str, Pattern("[0-9A-Z]{4,16}")]
        action: OrderAction

    OrderButton("R2345AB", OrderAction.LOOK).pack() == "o:R2345AB:look"

Apps can send any data, so it isn't trusted. `read` accepts only data that `pack` could have written.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, ClassVar, Final, Self, get_args, get_origin, get_type_hints

MAX_BYTES: Final = 64
"""The longest data of a button that Telegram accepts."""

_KINDS: dict[str, type["Callback"]] = {}


class Pattern(str):
    """A regular expression that a whole text field must match: `Annotated[str, Pattern("[0-9a-f]{4}")]`."""

    __slots__ = ()


class Callback:
    """A button's data. Subclasses are frozen dataclasses of `str`, `int` and `StrEnum` fields.

    A text field needs a `Pattern`. Fields with a default value come last. Trailing fields that have their default value
    aren't in the data.

    Raises:
        TypeError: another kind of button has the same prefix.
    """

    prefix: ClassVar[str]

    def __init_subclass__(cls, *, prefix: str) -> None:
        """Register the kind of button under its prefix."""
        known = _KINDS.setdefault(prefix, cls)
        if known is not cls:
            raise TypeError(f"{cls.__qualname__} and {known.__qualname__} have the prefix {prefix!r}")
        cls.prefix = prefix

    def pack(self) -> str:
        """Return the data of this button.

        Raises:
            ValueError: `read` would reject a field, or the data has more than 64 bytes.
        """
        values = [(getattr(self, name), default) for name, default in _get_format(self.prefix).defaults.items()]
        while values and values[-1][1] is not MISSING and values[-1][0] == values[-1][1]:
            values.pop()
        data = ":".join((self.prefix, *(str(value) for value, _ in values)))
        if self.read(data) != self or len(data.encode()) > MAX_BYTES:
            raise ValueError(f"not a {type(self).__qualname__}: {data!r}")
        return data

    @classmethod
    def read(cls, data: str) -> Self | None:
        """Return the button of this kind with that data, or None if the data is invalid."""
        data_format = _get_format(cls.prefix)
        match = data_format.expression.fullmatch(data)
        if match is None:
            return None
        return cls(
            **{name: data_format.types[name](text) for name, text in match.groupdict().items() if text is not None}
        )


def read_button(data: str) -> Callback | None:
    """Return the button of any kind with that data, or None if the data is invalid."""
    parts = data.split(":")
    for length in range(len(parts), 0, -1):
        kind = _KINDS.get(":".join(parts[:length]))
        found = None if kind is None else kind.read(data)
        if found is not None:
            return found
    return None


def list_button_kinds() -> Iterator[type[Callback]]:
    """Yield all kinds of buttons that have been imported, sorted by prefix."""
    return (_KINDS[prefix] for prefix in sorted(_KINDS))


@dataclass(frozen=True, slots=True)
class _Format:
    """The format of the data of one kind of button, and its fields."""

    expression: re.Pattern[str]
    types: Mapping[str, Callable[[str], object]]
    defaults: Mapping[str, object]


@cache
def _get_format(prefix: str) -> _Format:
    """Return the data format of the buttons with this prefix.

    Raises:
        TypeError: a field can't be packed, or a field without a default follows a field with a default.
    """
    kind = _KINDS[prefix]
    if not is_dataclass(kind):
        raise TypeError(f"{kind.__qualname__} is no dataclass")
    hints, types = get_type_hints(kind, include_extras=True), get_type_hints(kind)
    defaults = {field.name: field.default for field in fields(kind)}
    written, optional = re.escape(prefix), 0
    for name, default in defaults.items():
        part = f":(?P<{name}>{_get_pattern(kind, name, hints[name])})"
        if default is not MISSING:
            part, optional = f"(?:{part}", optional + 1
        elif optional:
            raise TypeError(f"{kind.__qualname__}.{name} needs a default value")
        written += part
    return _Format(re.compile(written + ")?" * optional, re.DOTALL), types, defaults)


def _get_pattern(kind: type[Callback], name: str, hint: object) -> str:
    if get_origin(hint) is Annotated:
        return next(str(extra) for extra in get_args(hint) if isinstance(extra, Pattern))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return "|".join(re.escape(each) for each in hint)
    if hint is int:
        return "0|[1-9][0-9]{0,17}"
    raise TypeError(f"{kind.__qualname__}.{name} can't be packed")
