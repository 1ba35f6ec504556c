"""Buttons as values: what a button's callback data says, packed and read in one place.

A button is a frozen dataclass over `Callback`. Its data is the prefix and the fields, joined by colons:

    @dataclass(frozen=True)
    class OrderButton(Callback, prefix="o"):
        reference: Annotated[str, Pattern("[0-9A-Z]{4,16}")]
        action: OrderAction

    OrderButton("R2345AB", OrderAction.LOOK).pack() == "o:R2345AB:look"

Telegram gives data back as the user's app sends it, so it is never trusted: `read` knows only what `pack` could have
written, and anything else is no button.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, ClassVar, Final, Self, get_args, get_origin, get_type_hints

MAX_BYTES: Final = 64
"""What Telegram accepts as a button's data."""

_KINDS: dict[str, type["Callback"]] = {}


class Pattern(str):
    """A regular expression that the text of a field must match as a whole: `Annotated[str, Pattern("[0-9a-f]{4}")]`."""

    __slots__ = ()


class Callback:
    """A button's data. Subclasses are frozen dataclasses of `str`, `int` and `StrEnum` fields.

    A text field needs a `Pattern`. Fields with a default value come last; they are left out of the data while they,
    and all that follow, have it.

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
            ValueError: a field holds what `read` would refuse, or the data has more than 64 bytes.
        """
        values = [(getattr(self, name), default) for name, default in _shape(self.prefix).defaults.items()]
        while values and values[-1][1] is not MISSING and values[-1][0] == values[-1][1]:
            values.pop()
        data = ":".join((self.prefix, *(str(value) for value, _ in values)))
        if self.read(data) != self or len(data.encode()) > MAX_BYTES:
            raise ValueError(f"not a {type(self).__qualname__}: {data!r}")
        return data

    @classmethod
    def read(cls, data: str) -> Self | None:
        """Return the button that packed `data`, or None where no button of this kind can have done so."""
        shape = _shape(cls.prefix)
        match = shape.expression.fullmatch(data)
        if match is None:
            return None
        return cls(**{name: shape.types[name](text) for name, text in match.groupdict().items() if text is not None})


def read_button(data: str) -> Callback | None:
    """Return the button that packed `data`, whatever its kind; None where there is none."""
    parts = data.split(":")
    for length in range(len(parts), 0, -1):
        kind = _KINDS.get(":".join(parts[:length]))
        found = None if kind is None else kind.read(data)
        if found is not None:
            return found
    return None


def list_button_kinds() -> Iterator[type[Callback]]:
    """All kinds of buttons that have been imported, by prefix."""
    return (_KINDS[prefix] for prefix in sorted(_KINDS))


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the data of one kind of button looks like, and what it is made of."""

    expression: re.Pattern[str]
    types: Mapping[str, Callable[[str], object]]
    defaults: Mapping[str, object]


@cache
def _shape(prefix: str) -> _Shape:
    """Return the shape of the buttons with this prefix.

    Raises:
        TypeError: a field can't be packed, or has no default value although one before it has.
    """
    kind = _KINDS[prefix]
    if not is_dataclass(kind):
        raise TypeError(f"{kind.__qualname__} is no dataclass")
    forms, types = get_type_hints(kind, include_extras=True), get_type_hints(kind)
    defaults = {field.name: field.default for field in fields(kind)}
    written, optional = re.escape(prefix), 0
    for name, default in defaults.items():
        part = f":(?P<{name}>{_form(kind, name, forms[name])})"
        if default is not MISSING:
            part, optional = f"(?:{part}", optional + 1
        elif optional:
            raise TypeError(f"{kind.__qualname__}.{name} needs a default value")
        written += part
    return _Shape(re.compile(written + ")?" * optional, re.DOTALL), types, defaults)


def _form(kind: type[Callback], name: str, hint: object) -> str:
    if get_origin(hint) is Annotated:
        return next(str(extra) for extra in get_args(hint) if isinstance(extra, Pattern))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return "|".join(re.escape(each) for each in hint)
    if hint is int:
        return "0|[1-9][0-9]{0,17}"
    raise TypeError(f"{kind.__qualname__}.{name} can't be packed")
