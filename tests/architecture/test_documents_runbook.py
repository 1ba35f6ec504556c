"""docs/runbook.md and the alarms in Telegram agree."""

import re
from typing import NamedTuple

import pytest

from bot.infra.i18n import read_catalogue
from bot.staff.model import RESOLVABLE_ALARMS, SERVICE_ALARMS, AlarmKind, Urgency
from tests.architecture.documents import anchors, check_listed, part, rows

SENTENCES = read_catalogue("en").sentences
URGENCIES = [each.value.replace("_", " ").capitalize() for each in Urgency]
OTHER_TEXTS = {
    "staff.alarm.methods_empty": AlarmKind.METHODS_SHRUNK,
    "staff.alarm.orders_refused": AlarmKind.SERVICE_DOWN,
}
"""Other texts with which an alarm arrives."""


class Section(NamedTuple):
    """What the runbook says about an alarm."""

    title: str
    urgency: str
    name: str
    also: frozenset[str]
    steps: tuple[str, ...]
    meaning: str


def _read_sections() -> list[Section]:
    found = []
    for text in re.split(r"^### ", part("alarms"), flags=re.MULTILINE)[1:]:
        title, facts, steps, meaning = text.strip().split("\n\n")
        head = re.fullmatch(r"\*\*(.+?)\*\* · `(\w+)`(?: · also: (.+))?", facts)
        assert head, f"{title}: its second line has an urgency and the alarm's name"
        also = frozenset(re.findall(r"\*\*(.+?)\*\*", head[3] or ""))
        found.append(Section(title, head[1], head[2], also, tuple(re.split(r"\n(?=\d+\. )", steps)), meaning))
    return found


SECTIONS = _read_sections()


def _title(key: str) -> str:
    """Return the bold beginning of an alarm's text, with "…" for what differs."""
    bold = re.search(r"<b>(.*?)</b>", SENTENCES[key][0])
    assert bold
    return re.sub(r"\{[^}]*\}", "…", bold[1]).rstrip(".")


def test_every_alarm_is_listed_and_no_other() -> None:
    check_listed("alarms", (section.name for section in SECTIONS), AlarmKind)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_an_alarm_is_found_by_all_that_it_says_in_telegram(section: Section) -> None:
    assert section.title == _title(f"staff.alarm.{section.name}")
    others = {_title(key) for key, kind in OTHER_TEXTS.items() if kind == section.name}
    assert section.also == others - {section.title}


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_an_alarm_leads_to_the_service_if_it_has_to_help_and_to_its_button_if_it_has_one(section: Section) -> None:
    said = " ".join(section.steps)
    assert ("](#reach-the-settlement-service)" in said) is (section.name in SERVICE_ALARMS)
    assert ("**Mark as handled**" in said) is (section.name in RESOLVABLE_ALARMS)


def test_alarms_are_sorted_by_the_urgency_that_decides_when_they_come() -> None:
    order = [list(Urgency).index(AlarmKind(section.name).urgency) for section in SECTIONS]
    assert order == sorted(order)
    assert set(order) == {0, 1, 2}
    assert [section.urgency for section in SECTIONS] == [URGENCIES[each] for each in order]
    assert [name for name, *_ in rows("urgencies")] == URGENCIES


def test_the_table_leads_to_each_alarm_by_its_name_in_status() -> None:
    listed = [
        [*re.findall(r"^\[(.+)\]\(#(.+)\)$", title)[0], status, name.strip("`"), urgency]
        for title, status, name, urgency in rows("alarm-index")
    ]
    assert listed == [
        [
            each.title,
            *anchors(f"# {each.title}"),
            SENTENCES[f"staff.alarm.{each.name}_name"][0],
            each.name,
            each.urgency,
        ]
        for each in SECTIONS
    ]
