"""On-chain deposits: only known tokens, exact amounts, and requests that wallets understand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.payments import erc681
from bot.payments.tokens import TOKENS, Token

_CBBTC, _BTCB = TOKENS["cbbtc"], TOKENS["btcb"]
_SAFE = "0x52908400098527886E0F7030069857D2E4169EE7"
_GOOD: dict[str, Any] = {
    "channel": "cbbtc",
    "chain_id": 8453,
    "token_address": "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf",
    "decimals": 8,
    "to_address": _SAFE,
}

_tokens = st.sampled_from([_CBBTC, _BTCB])
_sats = st.integers(1, 21 * 10**14)


def test_the_instructions_of_both_channels_pass() -> None:
    assert erc681.check_deposit(**_GOOD) is _CBBTC
    btcb = erc681.check_deposit("btcb", 56, "0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c", 18, _SAFE)
    assert (btcb.symbol, btcb.chain.name) == ("BTCB", "BNB Chain")


@pytest.mark.parametrize("address", [_CBBTC.contract.lower(), "0x" + _CBBTC.contract[2:].upper()])
def test_a_contract_is_the_same_in_any_case(address: str) -> None:
    assert erc681.check_deposit(**_GOOD | {"token_address": address}) is _CBBTC


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("channel", {"channel": "usdt"}),
        ("channel", {"channel": "CBBTC"}),
        ("chainId", {"chain_id": 1}),
        ("chainId", {"channel": "btcb"}),
        ("tokenAddress", {"token_address": _BTCB.contract}),
        ("tokenAddress", {"token_address": ""}),
        ("decimals", {"decimals": 18}),
        ("toAddress", {"to_address": ""}),
        ("toAddress", {"to_address": _SAFE[:-1]}),
        ("toAddress", {"to_address": _SAFE + "0"}),
        ("toAddress", {"to_address": _SAFE[2:]}),
        ("toAddress", {"to_address": _SAFE + "\n"}),
        ("toAddress", {"to_address": "0X" + _SAFE[2:]}),
        ("toAddress", {"to_address": "0x" + "g" * 40}),
        ("toAddress", {"to_address": "0x" + "0" * 40}),
        ("toAddress", {"to_address": _CBBTC.contract}),
        ("toAddress", {"to_address": _BTCB.contract.lower()}),
    ],
    ids=str,
)
def test_instructions_that_differ_anywhere_are_refused_and_say_where(field: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(erc681.DepositCheckError) as caught:
        erc681.check_deposit(**_GOOD | wrong)
    assert caught.value.field == field


CHECKSUMMED = (
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
)
"""The examples of EIP-55."""


@pytest.mark.parametrize("address", CHECKSUMMED)
def test_an_address_in_mixed_case_must_have_the_checksum_that_holds(address: str) -> None:
    assert erc681.add_checksum(address.lower()) == address
    erc681.check_deposit(**_GOOD | {"to_address": address})
    first = next(place for place, letter in enumerate(address) if letter.isalpha() and place > 1)
    wrong = address[:first] + address[first].swapcase() + address[first + 1 :]
    with pytest.raises(erc681.DepositCheckError) as caught:
        erc681.check_deposit(**_GOOD | {"to_address": wrong})
    assert caught.value.field == "toAddress"


@pytest.mark.parametrize("address", CHECKSUMMED)
def test_an_address_in_one_case_carries_no_checksum(address: str) -> None:
    erc681.check_deposit(**_GOOD | {"to_address": address.lower()})
    erc681.check_deposit(**_GOOD | {"to_address": "0x" + address[2:].upper()})


def test_the_transfer_names_token_chain_recipient_and_whole_units() -> None:
    assert erc681.transfer_uri(_CBBTC, _SAFE, 29_412) == (
        f"ethereum:0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf@8453/transfer?address={_SAFE}&uint256=29412"
    )
    assert erc681.transfer_uri(_BTCB, _SAFE.lower(), 29_412) == (
        "ethereum:0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c@56/transfer"
        f"?address={_SAFE.lower()}&uint256=294120000000000"
    )


@pytest.mark.parametrize("sats", [0, -1, 21 * 10**14 + 1])
def test_an_amount_that_cannot_be_is_refused(sats: int) -> None:
    with pytest.raises(erc681.DepositCheckError):
        erc681.units_for_sats(_BTCB, sats)


@pytest.mark.parametrize(
    ("sats", "text"),
    [
        (29_412, "0.00029412"),
        (1, "0.00000001"),
        (100_000, "0.001"),
        (10**8, "1"),
        (10**9, "10"),
        (21 * 10**14, "21000000"),
    ],
)
def test_the_amount_is_shown_as_a_payer_types_it(sats: int, text: str) -> None:
    assert erc681.format_token_amount(sats) == text


def service_uri_is_accepted(uri: str, token: Token = _CBBTC, sats: int = 25_000) -> bool:
    try:
        erc681.check_service_uri(uri, token, _SAFE, sats)
    except erc681.DepositCheckError:
        return False
    return True


_CONTRACT = _CBBTC.contract
_TRANSFER = f"ethereum:{_CONTRACT}@8453/transfer?address={_SAFE}"


@pytest.mark.parametrize(
    "uri",
    [
        f"ethereum:{_SAFE}@8453",
        f"ethereum:{_SAFE.lower()}@8453",
        f"ETHEREUM:pay-{_SAFE}@08453",
        f" ethereum:{_SAFE}@8453\n",
        _TRANSFER,
        f"{_TRANSFER}&uint256=25000",
        f"{_TRANSFER}&uint256=2.5e4",
        f"ethereum:{_CONTRACT.lower()}@8453/transfer?uint256=25000&address={_SAFE.lower()}",
    ],
)
def test_the_services_own_uri_may_name_the_address_or_the_transfer(uri: str) -> None:
    assert service_uri_is_accepted(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        _SAFE,
        f"ethereum:{_SAFE}",
        f"ethereum:{_SAFE}@56",
        f"ethereum:{_SAFE}@1",
        f"ethereum:{_CONTRACT}@8453",
        f"ethereum:{_SAFE[:-1]}8@8453",
        f"ethereum:{_SAFE}@8453?value=1e18",
        f"ethereum:{_SAFE}@8453/transfer?address={_SAFE}",
        f"ethereum:{_BTCB.contract}@8453/transfer?address={_SAFE}",
        f"ethereum:{_CONTRACT}@8453/transfer?address={_CONTRACT}",
        f"ethereum:{_CONTRACT}@8453/transfer?uint256=25000",
        f"ethereum:{_CONTRACT}@8453/approve?address={_SAFE}",
        f"ethereum:{_CONTRACT}@56/transfer?address={_SAFE}",
        f"{_TRANSFER}&address={_BTCB.contract}",
        f"{_TRANSFER}&uint256=25001",
        f"{_TRANSFER}&uint256=25000&uint256=1",
        f"{_TRANSFER}&uint256=-25000",
        f"{_TRANSFER}&uint256=",
        f"{_TRANSFER}&value=1",
        f"{_TRANSFER}&uint256",
        f"{_TRANSFER} ethereum:{_SAFE}@8453",
        f"bitcoin:{_SAFE}@8453",
    ],
)
def test_a_uri_of_the_service_that_names_something_else_or_cannot_be_read_is_rejected(uri: str) -> None:
    assert not service_uri_is_accepted(uri)


@given(_tokens, _sats)
def test_our_own_uri_would_be_accepted(token: Token, sats: int) -> None:
    assert service_uri_is_accepted(erc681.transfer_uri(token, _SAFE, sats), token, sats)
