"""How features' audit entries are shown in the reader's language."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.core.text import plain
from bot.infra.telegram.ui.formatting import clip
from bot.infra.telegram.ui.reader import Reader
from bot.staff.alarm_model import AlarmKind
from bot.staff.model import AuditEntry

MAX_NAME_LENGTH: Final = 60
"""Characters of a subject's name."""

SubjectName = Callable[[Reader, AuditEntry, str], str]
"""Returns the name of an entry's subject. The last argument is the part after the subject's colon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTerms:
    """What one feature writes to the audit log."""

    subjects: Mapping[str, SubjectName] = field(default_factory=dict)
    """Kind of subject (before the colon) -> function that returns the subject's name. The text is `audit.of_<kind>`."""

    details: frozenset[str] = frozenset()
    """Details that are fixed terms. All other details were typed, or are numbers or times. Their texts are
    `audit.word_<detail>`."""

    def __or__(self, other: "AuditTerms") -> "AuditTerms":
        """Return the terms of both.

        Raises:
            ValueError: both have subjects of the same kind.
        """
        if twice := self.subjects.keys() & other.subjects.keys():
            raise ValueError(f"two features have audit subjects of the kind {', '.join(sorted(twice))}")
        return AuditTerms(subjects={**self.subjects, **other.subjects}, details=self.details | other.details)


def name_as_written(_: Reader, __: AuditEntry, name: str) -> str:
    """Return the part after the subject's colon."""
    return clip(plain(name), MAX_NAME_LENGTH)


def _name_alarm(reader: Reader, _: AuditEntry, name: str) -> str:
    kind, _separator, subject = name.partition(":")
    is_known = kind in set(AlarmKind)
    kind_name = reader.t.plain(f"staff.alarm.{kind}_name") if is_known else clip(plain(kind), MAX_NAME_LENGTH)
    return f"{kind_name} {clip(plain(subject), MAX_NAME_LENGTH)}".strip()


STAFF_TERMS: Final = AuditTerms(
    subjects={"alarm": _name_alarm, "trail": name_as_written},
    details=frozenset({"settled"}),
)
