"""Finding a destination in the live list by typed text."""

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.recipients.banks import display_name
from bot.recipients.search import SearchResult, search
from bot.settlement.model import PayoutMethod

KNOWN = json.loads((files("bot.recipients") / "known.json").read_text(encoding="utf-8"))
EWALLETS = {"gopay", "ovo", "dana", "shopeepay", "linkaja", "linkaja_direct", "imkas", "isaku"}
METHODS = [
    PayoutMethod(each["code"], each["name"], "ewallet" if each["code"] in EWALLETS else "bank", 250_000_000)
    for each in KNOWN
]
BY_NAME = {method.name: method for method in METHODS}
BCA = BY_NAME["BANK CENTRAL ASIA"]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("bca", "BANK CENTRAL ASIA"),
        ("BCA", "BANK CENTRAL ASIA"),
        ("bank bca", "BANK CENTRAL ASIA"),
        ("\uff22\uff23\uff21", "BANK CENTRAL ASIA"),
        ("014", "BANK CENTRAL ASIA"),
        ("bca syariah", "BANK BCA SYARIAH"),
        ("bca digital", "BANK DIGITAL BCA (BLU)"),
        ("mandiri", "BANK MANDIRI"),
        ("mandri", "BANK MANDIRI"),
        ("mandiri taspen", "BANK MANDIRI TASPEN"),
        ("mandiri taspn", "BANK MANDIRI TASPEN"),
        ("gopay", "GOPAY"),
        ("Go-Pay", "GOPAY"),
        ("gopey", "GOPAY"),
        ("sea bank", "SEABANK INDONESIA"),
        ("seabank", "SEABANK INDONESIA"),
        ("sebank", "SEABANK INDONESIA"),
        ("shopepay", "SHOPEEPAY"),
        ("jenius", "BANK SMBC INDONESIA"),
        ("livi", "BANK MANDIRI"),
        ("dana", "DANA"),
        ("danamon", "BANK DANAMON INDONESIA"),
    ],
)
def test_one_clear_meaning_is_taken(typed: str, name: str) -> None:
    assert search(typed, METHODS) == SearchResult(hit=BY_NAME[name])


@pytest.mark.parametrize(
    ("typed", "labels"),
    [
        ("mand", ["Mandiri", "Mandiri Taspen", "BSI"]),
        ("dan", ["DANA", "Danamon"]),
        ("linkaj", ["LinkAja", "LinkAja Direct"]),
        ("bcaa", ["BCA", "BCA Syariah"]),
        ("ke bca mobile", ["BCA"]),
        ("bac", ["BCA"]),
    ],
)
def test_what_fits_several_or_only_nearly_is_offered_the_likeliest_first(typed: str, labels: list[str]) -> None:
    result = search(typed, METHODS)
    assert result.hit is None
    assert [display_name(method) for method in result.candidates] == labels


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry["code"])
def test_every_name_and_alias_finds_its_own_destination(entry: dict[str, object]) -> None:
    aliases = entry["aliases"]
    assert isinstance(aliases, list)
    for phrase in (entry["name"], entry["label"], entry["code"], *aliases):
        result = search(str(phrase), METHODS)
        assert BY_NAME[str(entry["name"])] in (result.hit, *result.candidates)


@given(st.text(max_size=200))
def test_any_text_gives_a_hit_or_candidates_but_never_both(typed: str) -> None:
    result = search(typed, METHODS)
    assert result.hit is None or not result.candidates


@pytest.mark.parametrize("name", ["PT. BANK CENTRAL ASIA, Tbk", "BCA", "Bank BCA", "bank central asia"])
def test_aliases_help_whatever_the_code_is_and_however_the_live_list_spells_the_name(name: str) -> None:
    method = PayoutMethod("P-77", name, "bank")
    assert search("klikbca", [method, BY_NAME["GOPAY"]]).hit == method
    assert display_name(method) == "BCA"


def test_a_known_code_under_a_foreign_name_is_not_taken_for_that_bank() -> None:
    method = PayoutMethod("014", "BANK XYZ", "bank")
    assert search("bca", [method]) == SearchResult()
    assert display_name(method) == "BANK XYZ"
