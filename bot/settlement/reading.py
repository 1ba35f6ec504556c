"""Exact reading of the service's JSON into the values of `model`.

The service writes numbers as numbers or as strings, leaves optional fields out, and can add undocumented ones. Values
that a payer's money depends on (amounts, rates, caps, where to pay) must be read exactly. Any other unreadable value
counts as missing, so that it never hides an order's state. Unknown keys are ignored (settlement API, 9.2).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Final, NoReturn, TypeVar

import structlog
from pydantic import (
    AfterValidator,
    AliasPath,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from bot.core.text import plain
from bot.settlement.errors import NotUnderstood

LARGEST_AMOUNT = 10**18
LONGEST_DETAIL = 256
LONGEST_INVOICE = 2000
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
_WIDEST_EXPONENT = 40
_LONGEST_NUMBER = 100
"""Exact arithmetic with a million digits takes a minute."""

_GROUPED = re.compile(r"\d{1,3}((,\d{3}){2,}|(\.\d{3}){2,}|(,\d{3})+\.\d\d?|(\.\d{3})+,\d\d?)|\d+,\d\d?", re.ASCII)
"""A text whose separators have one meaning: several groups, or a fraction of one or two digits."""

_AMBIGUOUS = re.compile(r"[+-]?\d{1,3}\.\d{3}", re.ASCII)
"""A text that can be a fraction or a group of thousands."""

_NO_CAP = frozenset({"", "none", "unlimited"})
_LONGEST_SHOWN = 40


def to_decimal(value: object) -> Decimal:
    """Return the exact decimal of a number or numeric string.

    Raises:
        ValueError: the value is something else. That includes floats, which aren't exact.
    """
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise ValueError("not a number")  # noqa: TRY004  pydantic reports ValueErrors
    if len(str(value)) > _LONGEST_NUMBER:
        raise ValueError("not a number that can be meant")
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        raise ValueError("not a number")
    number = Decimal(value)
    if not number.is_finite() or abs(number.adjusted()) > _WIDEST_EXPONENT:
        raise ValueError("not a number that can be meant")
    return number


def _in_range(amount: int) -> int:
    if not 0 <= amount <= LARGEST_AMOUNT:
        raise ValueError("amount out of range")
    return amount


def to_amount(value: object) -> int:
    """Return whole sats or rupiah, 0 to 10**18.

    `29412`, `"29412"` and `29412.0` are the same. Raise ValueError for `29412.5`.
    """
    numerator, denominator = to_decimal(value).as_integer_ratio()
    if denominator != 1:
        raise ValueError("not a whole amount")
    return _in_range(numerator)


def to_cap(value: object) -> int | str | None:
    """Return the largest whole amount within a cap, or None for no cap (null, a blank text, "none", "unlimited").

    A cap that can't be read for certain is returned as a text, cut and never empty.
    """
    text = value.strip().lower() if isinstance(value, str) else None
    if value is None or text in _NO_CAP:
        return None
    if text and _GROUPED.fullmatch(text):
        text = re.sub(r"[.,](\d\d?$)?", "", text)
    try:
        certain = None if text and _AMBIGUOUS.fullmatch(text) else text or value
        numerator, denominator = to_decimal(certain).as_integer_ratio()
        return _in_range(numerator // denominator)
    except ValueError:
        return cut(value) or "?"


def cut(value: object) -> str:
    """Return the beginning of a value that can't be read, to be shown to staff."""
    return plain(str(value))[:_LONGEST_SHOWN]


def to_rate(value: object) -> Decimal:
    """Return a price, exactly as written, above zero."""
    rate = to_decimal(value)
    if rate <= 0:
        raise ValueError("not a rate")
    return rate


def to_instant(value: object) -> datetime:
    """Return an ISO 8601 timestamp as aware UTC. Without a zone, it is UTC."""
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, str):
        moment = datetime.fromisoformat(value.strip())
    else:
        raise ValueError("not a timestamp")  # noqa: TRY004  pydantic reports ValueErrors
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError("not a timestamp") from None


def to_detail(value: object) -> object:
    """Return an id, a hash or a name with single spaces. An id can also be a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return " ".join(value.split()) if isinstance(value, str) else value


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("not printable")
    return text


def _upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def to_word(value: object) -> str:
    """Return a word of the service in lower case, or an empty text if it is something else."""
    return value.strip().lower() if isinstance(value, str) else ""


def _to_text(value: object) -> str | None:
    return None if value is None else str(value)


def or_else(default: object) -> WrapValidator:
    """Return the mark of a detail: if it can't be read, it is `default`."""

    def read_or_default(value: object, read: ValidatorFunctionWrapHandler) -> object:
        try:
            return default if value == "" else read(value)
        except ValidationError:
            return default

    return WrapValidator(read_or_default)


Text = Annotated[str, Field(min_length=1)]
WholeAmount = Annotated[int, BeforeValidator(to_amount)]
Rate = Annotated[Decimal, BeforeValidator(to_rate)]
Instant = Annotated[datetime, BeforeValidator(to_instant)]
State = Annotated[str, BeforeValidator(_upper), Field(min_length=1)]
Word = Annotated[str, BeforeValidator(to_word), Field(min_length=1)]
Detail = Annotated[
    str, BeforeValidator(to_detail), Field(min_length=1, max_length=LONGEST_DETAIL), AfterValidator(_printable)
]
LongDetail = Annotated[
    str, BeforeValidator(to_detail), Field(min_length=1, max_length=LONGEST_INVOICE), AfterValidator(_printable)
]

MaybeAmount = Annotated[WholeAmount | None, or_else(None)]
MaybeRate = Annotated[Rate | None, or_else(None)]
MaybeInstant = Annotated[Instant | None, or_else(None)]
MaybeText = Annotated[Text | None, or_else(None)]
MaybeWord = Annotated[Word | None, or_else(None)]
MaybeDetail = Annotated[Detail | None, or_else(None)]
MaybeInvoice = Annotated[LongDetail | None, or_else(None)]
TextOrEmpty = Annotated[Text, or_else("")]
WordOrEmpty = Annotated[Word, or_else("")]
AnyText = Annotated[str | None, BeforeValidator(_to_text)]
"""Whatever the service wrote, as a text."""

FROM_JSON: Final = ConfigDict(alias_generator=to_camel, extra="ignore")
"""How a value of `model` is read: fields have the document's names, unless `named` gives another."""

FROM_JSON_OR_STORED: Final = ConfigDict(**FROM_JSON, validate_by_name=True)
"""How a value is read that notifications store, too, under our own names."""

arranged = model_validator(mode="before")
"""Marks the class method that arranges a JSON object before its fields are read."""

afterwards = AfterValidator
"""Marks what happens to a field after it was read."""


def named(*path: str) -> Any:  # noqa: ANN401  pydantic's own type
    """Return the mark of a field that has another name in the document, or is inside another one there."""
    return Field(validation_alias=AliasPath(*path))


T = TypeVar("T")

_REASONS_SHOWN = 3

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    """A 2xx with a JSON body. `date` is the service's time from its `Date` header."""

    status: int
    value: object
    date: datetime | None = None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def read_json(body: bytes) -> object:
    """Parse the JSON of a body, fractions as exact Decimals.

    Raises:
        ValueError: the body isn't standard JSON (NaN and Infinity aren't).
    """
    try:
        value: object = json.loads(body, parse_float=Decimal, parse_constant=_no_constant)
    except (RecursionError, ArithmeticError):
        raise ValueError("nested too deeply, or an exponent too large") from None
    return value


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401  any type
    """Return what reads a value. It is built with its first answer, in 2 ms, and not at the start."""
    return TypeAdapter(kind)


def _validate(kind: Any, value: object) -> Any:  # noqa: ANN401  an instance of `kind`
    return _reader(kind).validate_python(_known_names(value))


def _known_names(value: object) -> object:
    """Leave out names that aren't the document's. JSON can spell half a surrogate pair, which pydantic refuses."""
    if isinstance(value, dict):
        return {name: _known_names(item) for name, item in value.items() if name.isascii()}
    return value


def read(kind: type[T], answer: ServiceResponse) -> T:
    """Read the answer as one value.

    Raises:
        NotUnderstood: it is something else. The text has no personal data.
    """
    try:
        value: T = _validate(kind, answer.value)
    except (ValidationError, RecursionError) as error:
        reason = _reason(error)
    else:
        return value
    raise NotUnderstood(f"{kind.__name__}: {reason}", status=answer.status)


def read_object(answer: ServiceResponse) -> Mapping[str, object]:
    """Return the JSON object of an answer. Raise NotUnderstood if it is something else."""
    if not isinstance(answer.value, dict):
        raise NotUnderstood("not an object", status=answer.status)
    return answer.value


def read_instant(value: object) -> datetime | None:
    """Return a time that nothing depends on, or None."""
    try:
        return to_instant(value)
    except ValueError:
        return None


def read_rows(kind: type[T], answer: ServiceResponse, name: str) -> tuple[tuple[T, ...], int]:
    """Read the readable rows of the list `name`, and return how many others there are.

    Raises:
        NotUnderstood: there is no list, or no row is readable.
    """
    rows = read_object(answer).get(name)
    if not isinstance(rows, list):
        raise NotUnderstood(f"no list under {name}", status=answer.status)
    understood, reason = _read_each(kind, rows)
    skipped = len(rows) - len(understood)
    if skipped:
        log.warning("settlement_rows_skipped", resource=kind.__name__, skipped=skipped, first_reason=reason)
    if skipped and not understood:
        raise NotUnderstood(f"{kind.__name__}: no row understood", status=answer.status)
    return understood, skipped


def _read_each(kind: type[T], rows: Sequence[object]) -> tuple[tuple[T, ...], str]:
    understood, reason = list[T](), ""
    for row in rows:
        try:
            understood.append(_validate(kind, row))
        except (ValidationError, RecursionError) as error:
            reason = reason or _reason(error)
    return tuple(understood), reason


def _reason(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    reasons = [f"{'.'.join(map(str, fault['loc']))}: {fault['type']}" for fault in faults]
    return "; ".join(reasons[:_REASONS_SHOWN])
