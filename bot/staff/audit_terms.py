"""What features write to the audit log, so that it can be shown in the reader's language."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.core.text import plain
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.formatting import clip
from bot.staff.alarm_model import AlarmKind
from bot.staff.model import AuditEntry

MAX_NAME_LENGTH: Final = 60
"""Characters of a subject's name."""

SubjectName = Callable[[Translator, AuditEntry, str], str]
"""Returns what the subject of an entry is called, from what is behind its colon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTerms:
    """What one feature writes to the audit log."""

    subjects: Mapping[str, SubjectName] = field(default_factory=dict)
    """Kind, which is in front of a subject's colon -> what the subject is called. The text is `audit.of_<kind>`."""

    details: frozenset[str] = frozenset()
    """The details that are words of ours: any other was typed, or is a number or a time. Their texts are
    `audit.word_<detail>`."""

    def __or__(self, other: "AuditTerms") -> "AuditTerms":
        """Return the terms of both.

        Raises:
            ValueError: both have subjects of the same kind.
        """
        if twice := self.subjects.keys() & other.subjects.keys():
            raise ValueError(f"two features have audit subjects of the kind {', '.join(sorted(twice))}")
        return AuditTerms(subjects={**self.subjects, **other.subjects}, details=self.details | other.details)


def name_as_written(_: Translator, __: AuditEntry, name: str) -> str:
    """Return what is behind the subject's colon."""
    return clip(plain(name), MAX_NAME_LENGTH)


def _name_alarm(t: Translator, _: AuditEntry, name: str) -> str:
    kind, _separator, subject = name.partition(":")
    kind_name = t.plain(f"alarm.{kind}_name") if kind in set(AlarmKind) else clip(plain(kind), MAX_NAME_LENGTH)
    return f"{kind_name} {clip(plain(subject), MAX_NAME_LENGTH)}".strip()


STAFF_TERMS: Final = AuditTerms(
    subjects={"alarm": _name_alarm, "trail": name_as_written},
    details=frozenset({"settled"}),
)
