"""Values in the service's JSON are read exactly or rejected. Undocumented values don't break a resource."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from bot.settlement.errors import NotUnderstood
from bot.settlement.model import (
    CreatedOrder,
    DepositRails,
    OrderReport,
    PayoutMethod,
    Quote,
    ServiceRecord,
)
from bot.settlement.reading import (
    LARGEST_AMOUNT,
    ServiceResponse,
    read,
    read_json,
    to_amount,
    to_cap,
    to_instant,
    to_rate,
)
from tests.settlement.builders import a_report

if TYPE_CHECKING:
    from decimal import Decimal

T = TypeVar("T")
ROW: dict[str, Any] = {"id": "o1", "state": "IDLE", "satAmount": 1, "idrAmount": 1}


def reading(kind: type[T], value: object) -> T:
    return read(kind, ServiceResponse(200, value))


def parsed(text: str) -> Any:
    return read_json(text.encode())


@pytest.mark.parametrize("text", ["29412", '"29412"', "29412.0", '"29412.000"', "2.9412e4", '" 29412 "', "2941200e-2"])
def test_one_amount_has_many_spellings(text: str) -> None:
    assert to_amount(parsed(text)) == 29412


@pytest.mark.parametrize(
    "text",
    [
        "29412.5",
        '"29,412"',
        '"29.412,00"',
        '""',
        '"Rp 5"',
        "true",
        "null",
        "[]",
        "-1",
        '"٢"',
        '"0x10"',
        '"1_000"',
        "1e19",
        "1e400000",
        '"1e999999999"',
        '"NaN"',
        '"Infinity"',
        "1e-9",
        "29412.00000000000000000000000000000001",
        "1." + "0" * 200 + "1",
    ],
)
def test_what_is_not_a_whole_amount_is_not_understood(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a|out of range"):
        to_amount(parsed(text))


@given(st.integers(0, LARGEST_AMOUNT), st.sampled_from(["{}", '"{}"', "{}.0", '"{}.00"']))
def test_every_amount_is_read_exactly(amount: int, spelling: str) -> None:
    assert to_amount(parsed(spelling.format(amount))) == amount


@given(st.decimals(min_value="1e-12", max_value="1e18", allow_nan=False, allow_infinity=False))
def test_every_rate_is_read_without_a_floats_error(rate: Decimal) -> None:
    assert to_rate(parsed(str(rate))) == rate
    assert to_rate(parsed(f'"{rate}"')) == rate


@pytest.mark.parametrize("text", ["0", "-1", '"free"', "null", "false", '"1e-99"'])
def test_a_rate_is_a_number_above_zero(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        to_rate(parsed(text))


@pytest.mark.parametrize(
    ("text", "cap"),
    [
        ("null", None),
        ('""', None),
        ('" "', None),
        ("50000000", 50_000_000),
        ('"250000000"', 250_000_000),
        ('"1000.99"', 1000),
        ("0", 0),
        ("2.5e7", 25_000_000),
        ("5e7", 50_000_000),
        ('"5e7"', 50_000_000),
        ("50.000", 50),
        ('"50,000,000"', 50_000_000),
        ('"50.000.000"', 50_000_000),
        ('"50000000.00"', 50_000_000),
        ('"50000000,00"', 50_000_000),
        ('"50,000,000.00"', 50_000_000),
        ('"50.000.000,5"', 50_000_000),
        ('"50,000.00"', 50_000),
        ('"50.000,00"', 50_000),
        ('" None "', None),
        ('"UNLIMITED"', None),
        ('"unlimited"', None),
    ],
)
def test_a_cap_may_be_a_number_a_text_or_nothing(text: str, cap: int | None) -> None:
    assert to_cap(parsed(text)) == cap


UNREADABLE = [
    ('"50.000"', "50.000"),
    ('"50,000"', "50,000"),
    ('"0.500"', "0.500"),
    ('"50,000.000"', "50,000.000"),
    ('"50,000.000,00"', "50,000.000,00"),
    ('"50.00.000"', "50.00.000"),
    ('"50 000 000"', "50 000 000"),
    ('"Rp50.000.000"', "Rp50.000.000"),
    ('"\u0665\u0660"', "50"),  # digits of another script
    ('"no limit"', "no limit"),
    ('"-"', "-"),
    ('"\\u200b"', "?"),
    ('"\\u0000\\ud800"', "?"),
    ("-1", "-1"),
    ("1e19", "1E+19"),
    ("true", "True"),
    ("{}", "{}"),
    ("[]", "[]"),
    (f'"{"9" * 500}"', "9" * 40),
]


@pytest.mark.parametrize(("cap", "text"), UNREADABLE)
def test_a_cap_that_is_not_certain_is_a_text_and_the_method_stays_listed(cap: str, text: str) -> None:
    row = parsed(f'{{"bankCode": "1", "bankName": "b", "kind": "bank", "maxAmountTransfer": {cap}}}')
    assert to_cap(row["maxAmountTransfer"]) == text
    assert reading(PayoutMethod, row) == PayoutMethod("1", "b", "bank", 0, f"maxAmountTransfer “{text}”")


@given(st.text() | st.integers() | st.booleans() | st.lists(st.text()) | st.none())
def test_no_cap_removes_a_method_and_none_counts_only_if_it_says_so(cap: object) -> None:
    row = {"bankCode": "1", "bankName": "b", "kind": "bank", "maxAmountTransfer": cap, "cap": 5, "unread": ""}
    known = reading(PayoutMethod, row)
    if known.cap is None:
        assert cap is None or str(cap).strip().lower() in {"", "none", "unlimited"}
    assert known.cap == 0 or not known.unread


def test_codes_and_names_of_methods_stay_exactly_as_given() -> None:
    row = {"bankCode": " 014", "bankName": "Bank  X, Tbk. ", "kind": "Bank", "new": {}}
    assert reading(PayoutMethod, row) == PayoutMethod(" 014", "Bank  X, Tbk. ", "bank")


@pytest.mark.parametrize("kind", [{"kind": "QRIS"}, {"kind": ""}, {"kind": 5}, {"kind": None}, {}])
def test_a_method_of_an_unknown_kind_stays_listed_and_takes_nothing(kind: dict[str, object]) -> None:
    row = reading(PayoutMethod, {"bankCode": "1", "bankName": "b", "maxAmountTransfer": 5_000_000, **kind})
    word = "qris" if kind.get("kind") == "QRIS" else ""
    assert row == PayoutMethod("1", "b", word, 0, f"kind “{word}”")


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-21T09:00:00Z", datetime(2026, 11, 21, 9, tzinfo=UTC)),
        ("2026-11-21T09:00:00.123Z", datetime(2026, 11, 21, 9, 0, 0, 123000, tzinfo=UTC)),
        ("2026-11-21T16:00:00+07:00", datetime(2026, 11, 21, 9, tzinfo=UTC)),
        ("2026-11-21T09:00:00", datetime(2026, 11, 21, 9, tzinfo=UTC)),
        ("2026-11-21 09:00:00.1234567Z", datetime(2026, 11, 21, 9, 0, 0, 123456, tzinfo=UTC)),
        ("2026-11-21", datetime(2026, 11, 21, tzinfo=UTC)),
    ],
)
def test_timestamps_become_aware_utc(text: str, instant: datetime) -> None:
    assert to_instant(text) == instant
    assert to_instant(text).tzinfo is UTC


@pytest.mark.parametrize("junk", ["", "soon", "21/11/2026", 1_700_000_000, None, True, "0001-01-01T00:00:00+14:00"])
def test_what_is_no_timestamp_is_refused_where_it_matters_and_missing_elsewhere(junk: object) -> None:
    with pytest.raises(ValueError, match=r"timestamp|isoformat"):
        to_instant(junk)
    with pytest.raises(NotUnderstood, match="fetchedAt"):
        reading(Quote, {"btcIdr": 1, "fetchedAt": junk})
    assert reading(OrderReport, ROW | {"createdAt": junk}).created_at is None


KEYS = ["btcIdr", "invoicePaidAt", "depositChainId", "completedAt", "deposit", "record", "\ud800"]


@pytest.mark.parametrize("junk", [7.5, [], {}, True, "", "\ud800", "x" * 3])
@pytest.mark.parametrize("key", KEYS)
def test_odd_intermediate_fields_never_hide_the_state(key: str, junk: object) -> None:
    row = ROW | {key: junk, "state": "COMPLETED"}
    assert reading(OrderReport, row) == a_report("o1", "COMPLETED", sats=1, idr=1)


def test_details_of_a_wrong_type_cost_neither_the_report_nor_each_other() -> None:
    wrong = {to_camel(field.name): [{"a": 1}] for field in fields(ServiceRecord)}
    report = reading(OrderReport, ROW | wrong | {"partnerRedeemId": "redeem_1", "merchantName": "Sari"})
    assert report.record == ServiceRecord(partner_redeem_id="redeem_1", merchant_name="Sari")
    assert "Sari" not in repr(report)


TOKEN = {"depositChannel": " CBBTC", "depositTokenAddress": "0xT", "depositToAddress": "0xS"}


@pytest.mark.parametrize(("chain", "chain_id"), [("8453", 8453), ("base", 0), (None, 0)])
def test_a_deposit_of_an_unknown_chain_is_known_as_a_deposit(chain: str | None, chain_id: int) -> None:
    deposit = reading(OrderReport, ROW | TOKEN | {"depositChainId": chain}).deposit
    assert deposit is not None
    assert (deposit.channel, deposit.chain_id, deposit.to_address) == ("cbbtc", chain_id, "0xS")


@pytest.mark.parametrize("gap", [{"depositChannel": "lightning"}, {"depositToAddress": ""}, {"depositTokenAddress": 5}])
def test_a_record_without_channel_contract_or_address_has_no_deposit(gap: dict[str, object]) -> None:
    assert reading(OrderReport, ROW | TOKEN | gap).deposit is None


@pytest.mark.parametrize("missing", ["id", "state", "satAmount", "idrAmount"])
@pytest.mark.parametrize("junk", [None, [], "", 5.5])
def test_an_order_without_id_state_or_amounts_is_none(missing: str, junk: object) -> None:
    with pytest.raises(NotUnderstood, match=f"OrderReport: {missing}"):
        reading(OrderReport, ROW | {missing: junk})


CREATED = {"orderId": "o1", "bolt11": "lnbc1", "satAmount": 29412, "idrAmount": 500_000}
DEPOSIT = {
    "channel": "btcb",
    "chainId": "56",
    "tokenAddress": "0xT",
    "toAddress": "0xS",
    "decimals": 18,
    "qrValue": None,
}


def test_deposit_instructions_are_read_whole() -> None:
    created = reading(CreatedOrder, CREATED | {"bolt11": None, "deposit": DEPOSIT})
    assert created.deposit
    assert (created.deposit.chain_id, created.deposit.decimals, created.deposit.to_address) == (56, 18, "0xS")


@pytest.mark.parametrize("gap", ["channel", "chainId", "tokenAddress", "toAddress", "decimals"])
def test_deposit_instructions_with_a_gap_are_not_understood(gap: str) -> None:
    deposit = {key: value for key, value in DEPOSIT.items() if key != gap}
    with pytest.raises(NotUnderstood, match=gap):
        reading(CreatedOrder, CREATED | {"bolt11": None, "deposit": deposit})


def test_a_rail_that_is_not_understood_is_not_offered_and_hides_no_other() -> None:
    good = {
        "chainId": 56,
        "safeAddress": "0xS",
        "token": "BTCB",
        "contractAddress": "0xT",
        "decimals": 18,
        "depositChannel": "btcb",
    }
    rails = reading(DepositRails, {"configured": True, "baseCbbtc": {"chainId": 8453}, "bscBtcb": good})
    assert rails.channels == {"btcb"}
    assert [(rail.name, rail.channel) for rail in rails.rails] == [("bscBtcb", "btcb")]


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("redeem_1", "redeem_1"),
        (" redeem 1\n", "redeem 1"),
        (12345, "12345"),
        ("x" * 256, "x" * 256),
        ("x" * 257, None),
        ("a\u202eb", None),
        ("a\x00b", None),
        ("\ud800", None),
        ("  ", None),
        (True, None),
        (1.5, None),
        ({"id": "1"}, None),
    ],
)
def test_a_detail_is_kept_whole_or_not_at_all(value: object, kept: str | None) -> None:
    order = reading(OrderReport, ROW | {"partnerRedeemId": value, "merchantName": value})
    assert (order.record.partner_redeem_id, order.record.merchant_name) == (kept, kept)


@pytest.mark.parametrize(
    "text", ["", "{", "NaN", '{"a": Infinity}', "[" * 50_000, "1" * 5000, "1e" + "9" * 20, "\ufffe", "<html>"]
)
def test_what_is_not_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  each says something else
        read_json(text.encode())


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_no_json_value_can_do_more_than_not_be_understood(value: object) -> None:
    for kind in (OrderReport, Quote, CreatedOrder, DepositRails, PayoutMethod):
        with pytest.raises(NotUnderstood):
            read(kind, ServiceResponse(200, value))
