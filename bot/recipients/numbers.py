"""Account and mobile numbers: read pasted ones, compare them with the service's, and mask them."""

import re
from dataclasses import dataclass
from typing import Final, Literal

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumber, PhoneNumberType

from bot.core.errors import Rejection, Remark
from bot.core.locales import any_of, typed_words
from bot.core.text import plain
from bot.recipients.banks import display_name, find_known
from bot.settlement.model import EWALLET, PayoutMethod

MIN_ACCOUNT_DIGITS: Final = 5
MAX_ACCOUNT_DIGITS: Final = 20
"""Digits. No Indonesian bank has shorter or longer account numbers, so anything else is rejected.

The service says "typically 10 to 16" (settlement API, 4.5), so the bot asks about other lengths."""

TYPICAL_ACCOUNT_DIGITS: Final = range(10, 17)
MOBILE_DIGITS: Final = range(10, 16)
"""Digits that the service accepts for an e-wallet (settlement API, 4.5): 10 to 15, in the form that is sent."""

_SPACING: Final = str.maketrans("", "", " .-'")
_MOBILE_SPACING: Final = str.maketrans("", "", " .-'()")
_COUNTRY: Final = 62

ACCOUNT_LABELS: Final = frozenset(typed_words("account_labels"))
"""Words that only introduce an account number."""

NUMBER_LABELS: Final = ACCOUNT_LABELS | frozenset(typed_words("number_labels"))
"""Words that introduce an account number, or the number of a house, a room or a queue."""

PHONE_LABELS: Final = frozenset(typed_words("phone_labels"))
"""Words that introduce a mobile number, which is no bank account."""

_LABELS: Final = re.compile(
    rf"(?:(?:{any_of(sorted(NUMBER_LABELS | PHONE_LABELS, key=len, reverse=True))})(?=[\W\d])[\s.:#]*)+", re.IGNORECASE
)
_WHATSAPP: Final = re.compile(
    r"(?:https?://)?(?:wa\.me/|(?:(?:api|web)\.whatsapp\.com|whatsapp:/)/send/?\?(?:\S*?&)?phone=)"
    r"(?:\+|%2b)?(?P<number>\d+)(?:[/?&#]\S*)?",
    re.IGNORECASE,
)
"""A link to a chat. Its number begins with the country's code, with or without a plus sign."""


class NumberRejected(Rejection):
    """The number can't be one of this destination's numbers, or of a contact with an e-wallet."""


@dataclass(frozen=True, slots=True)
class LikeMobile(Remark):
    """The account number can be a mobile number. The user may mean an e-wallet."""


@dataclass(frozen=True, slots=True)
class CleanNumber:
    """A number in the form that is sent. If there is a `remark`, the user has to confirm the number."""

    number: str
    remark: Remark | None = None


def read_links(text: str) -> str:
    """Return `text` with the phone number of each WhatsApp link in place of the link."""
    return _WHATSAPP.sub(r"+\g<number>", text)


def clean_number(method: PayoutMethod, text: str) -> CleanNumber:
    """Return the number in `text` in the form that the service accepts for `method` (settlement API, 4.5).

    Labels before it ("No. Rek", "tel:") and a WhatsApp link around it don't count. A bank's number has only digits. An
    e-wallet's is a mobile number in the local form `08…`, which Indonesians use. The API accepts it as well as E.164.

    Raises:
        NumberRejected: `recipients.number.missing`, `recipients.number.not_digits`, `recipients.number.too_short`
            (`shortest`, `actual`), `recipients.number.too_long` (`longest`, `actual`). For banks
            `recipients.number.phone_at_bank`. For e-wallets `recipients.number.landline`, `recipients.number.foreign`
            (`code`), `recipients.number.not_mobile`.
    """
    typed = plain(read_links(text))
    labels = _LABELS.match(typed)
    typed = typed[labels.end() :] if labels else typed
    if not any(character.isdecimal() for character in typed):
        raise NumberRejected("recipients.number.missing")
    return _clean_mobile(typed) if method.kind == EWALLET else _clean_account(method, typed)


def clean_contact(text: str) -> CleanNumber:
    """Return the number of a contact as `clean_number` does for an e-wallet.

    Telegram sends numbers of its users with their country's code but without a plus: 6281… is Indonesian, and 8190… is
    Japanese, although it looks like an Indonesian number without its zero.

    Raises:
        NumberRejected: `recipients.number.contact_without` (no number), `recipients.number.contact_unclear` (`number`),
            and those of `clean_number` for an e-wallet.
    """
    typed = plain(text)
    if not any(character.isdecimal() for character in typed):
        raise NumberRejected("recipients.number.contact_without")
    squeezed = typed.translate(_MOBILE_SPACING)
    if squeezed.startswith(("+", "0", "62")):
        return _clean_mobile(typed)
    code = _find_country(squeezed)
    if code is None:
        return _clean_mobile(typed)
    if squeezed.startswith("8"):
        raise NumberRejected("recipients.number.contact_unclear", number=squeezed)
    raise NumberRejected("recipients.number.foreign", code=f"+{code}")


def _find_country(digits: str) -> int | None:
    """Return the code of the country whose number these digits are with a plus before them, or None."""
    try:
        parsed = phonenumbers.parse(f"+{digits}")
    except NumberParseException:
        return None
    # Indonesian numbers without their zero begin with 8, and may have as many digits as those of another country.
    is_certain = phonenumbers.is_valid_number if digits.startswith("8") else phonenumbers.is_possible_number
    return parsed.country_code if is_certain(parsed) else None


def to_international(text: str) -> str | None:
    """Return the Indonesian mobile number in `text` as `+628…`, or None. No bank accepts this form."""
    try:
        return f"+{_COUNTRY}{_clean_mobile(plain(text)).number.removeprefix('0')}"
    except NumberRejected:
        return None


def _clean_account(method: PayoutMethod, typed: str) -> CleanNumber:
    if re.fullmatch(r"\+[0-9]+", typed.translate(_MOBILE_SPACING)):
        raise NumberRejected("recipients.number.phone_at_bank")
    number = _check_digits(typed.translate(_SPACING))
    _check_length(number, MIN_ACCOUNT_DIGITS, MAX_ACCOUNT_DIGITS)
    return CleanNumber(number, _remark_on_length(method, len(number)) or _remark_like_mobile(method, number))


def _check_digits(text: str) -> str:
    if not re.fullmatch(r"[0-9]+", text):
        raise NumberRejected("recipients.number.not_digits")
    return text


def _check_length(number: str, minimum: int, maximum: int) -> None:
    if len(number) < minimum:
        raise NumberRejected("recipients.number.too_short", shortest=minimum, actual=len(number))
    if len(number) > maximum:
        raise NumberRejected("recipients.number.too_long", longest=maximum, actual=len(number))


def _remark_on_length(method: PayoutMethod, actual: int) -> Remark | None:
    known = find_known(method.code, method.name)
    if known is not None and known.digits is not None:
        arguments = {"method": display_name(method), "expected": known.digits, "actual": actual}
        return None if actual == known.digits else Remark("recipients.number.unusual_length", arguments)
    if actual in TYPICAL_ACCOUNT_DIGITS:
        return None
    bounds = {"shortest": TYPICAL_ACCOUNT_DIGITS.start, "longest": TYPICAL_ACCOUNT_DIGITS.stop - 1}
    return Remark("recipients.number.rare_length", {**bounds, "actual": actual})


def _remark_like_mobile(method: PayoutMethod, number: str) -> Remark | None:
    # Many account numbers begin with 8, so a mobile number needs the zero or the country code.
    if not number.startswith(("08", "628")):
        return None
    try:
        is_mobile = _clean_mobile(number).remark is None
    except NumberRejected:
        is_mobile = False
    return LikeMobile("recipients.number.like_mobile", {"method": display_name(method)}) if is_mobile else None


def _clean_mobile(typed: str) -> CleanNumber:
    parsed = _parse_mobile(_with_country_code(typed))
    if parsed.country_code != _COUNTRY:
        raise NumberRejected("recipients.number.foreign", code=f"+{parsed.country_code}")
    number = f"0{parsed.national_number}"
    kind = phonenumbers.number_type(parsed)
    if kind == PhoneNumberType.MOBILE:
        _check_length(number, MOBILE_DIGITS.start, MOBILE_DIGITS.stop - 1)
        return CleanNumber(number)
    if kind == PhoneNumberType.FIXED_LINE:
        raise NumberRejected("recipients.number.landline")
    if kind != PhoneNumberType.UNKNOWN or not number.startswith("08"):
        raise NumberRejected("recipients.number.not_mobile")
    return _accept_unlisted_mobile(number)


def _with_country_code(typed: str) -> str:
    """Return the digits, with a plus if the country code was typed (`+62…`, `0062…`, `62…`)."""
    squeezed = typed.translate(_MOBILE_SPACING)
    digits = _check_digits(squeezed.removeprefix("+"))
    if squeezed.startswith("+") or not digits.startswith(("00", "62")):
        return squeezed
    return "+" + digits.removeprefix("00")


def _parse_mobile(dialled: str) -> PhoneNumber:
    try:
        return phonenumbers.parse(dialled, "ID")
    except NumberParseException:
        _check_length(dialled.removeprefix("+"), MOBILE_DIGITS.start, MOBILE_DIGITS.stop - 1)
        raise NumberRejected("recipients.number.not_mobile") from None


def _accept_unlisted_mobile(number: str) -> CleanNumber:
    """Return a number that begins like a mobile number but isn't in our numbering plan. The user has to confirm it."""
    _check_length(number, MOBILE_DIGITS.start, MOBILE_DIGITS.stop - 1)
    return CleanNumber(number, Remark("recipients.number.unusual_mobile", {"actual": len(number)}))


NumberMatch = Literal["same", "masked", "different"]

MIN_VISIBLE_DIGITS: Final = 4
"""Distinctive digits that a masked number must show. With fewer it matches too many people."""

VISIBLE_CHARACTERS: Final = 4
_LONGEST: Final = 64
_MASK = re.compile(r"[*x•●∙·#_…]+|\.{2,}")
_SEPARATORS = re.compile(r"[ .\-()+']+")


def compare_numbers(ours: str, theirs: str, kind: str) -> NumberMatch:
    """Return whether the service's `payoutRecipient` is our number.

    The settlement API says "masked" (2.7), but not in which form. `kind` is the payout method's. For an e-wallet
    `0812…`, `62812…` and `+62812…` are one number. A masked number is "masked" if the visible digits match ours in
    place, and at least four of them are distinctive. The length of a mask proves nothing, since many services mask
    with a fixed number of signs.
    """
    their_digits, our_digits = _normalize(theirs), _normalize(ours)
    if not their_digits or not our_digits or len(theirs) > _LONGEST:
        return "different"
    spellings = _spellings(our_digits) if kind == EWALLET else {our_digits}
    if "*" not in their_digits:
        return "same" if their_digits in spellings else "different"
    if _count_distinctive_digits(their_digits, kind) < MIN_VISIBLE_DIGITS:
        return "different"
    pattern = their_digits.replace("*", "[0-9]+")
    return "masked" if any(re.fullmatch(pattern, spelling) for spelling in spellings) else "different"


def is_masked(number: str) -> bool:
    """Return whether the service shows only a part of a number."""
    return bool(_MASK.search(number))


def _normalize(text: str) -> str:
    """Return the digits, with one `*` for each masked part. It is empty if the text has other characters."""
    # NFKC turns an ellipsis into dots, which count as separators, so it is replaced before.
    marked = _MASK.sub("*", plain(text.replace("…", "*")).casefold())
    squeezed = re.sub(r"\*+", "*", _SEPARATORS.sub("", marked))
    return squeezed if re.fullmatch(r"[0-9*]+", squeezed) else ""


def _spellings(digits: str) -> set[str]:
    """Return all ways to write an Indonesian mobile number, without the plus sign."""
    national = re.sub(r"^(?:00)?62", "", digits).removeprefix("0")
    return {prefix + national for prefix in ("", "0", "62", "620", "0062")}


def _count_distinctive_digits(masked: str, kind: str) -> int:
    """Return how many visible digits differ between people. Every mobile number begins with 08 or 628."""
    rest = re.sub(r"^(?:00)?(?:620?|6(?=\*)|0)?8?", "", masked) if kind == EWALLET else masked
    return sum(character.isdecimal() for character in rest)


def mask_number(number: str) -> str:
    """Return `number` masked: its last four characters, but never more than half of it."""
    shown = min(VISIBLE_CHARACTERS, len(number) // 2)
    return "••••" + (number[-shown:] if shown else "")
