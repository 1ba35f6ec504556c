"""The ways to pay: each token has its true values on its chain, and everything else is derived from them."""

import pytest

from bot.infra.i18n import LOCALES, read_catalogue
from bot.mcp_server.answers import join_words
from bot.operations.screens import NAMES
from bot.payments.tokens import CODES, LIGHTNING, TOKENS, name_key
from bot.settlement.model import DepositRails
from bot.settlement.reading import ServiceResponse, read

ON_CHAIN = {
    "cbbtc": ("baseCbbtc", "cbBTC", 8453, "Base", "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf", 8),
    "btcb": ("bscBtcb", "BTCB", 56, "BNB Chain", "0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c", 18),
}
"""Repeated here from the chains' documents, because a payer's money goes to these contracts."""


def test_each_token_is_the_one_on_its_chain() -> None:
    known = {
        code: (each.rail, each.symbol, each.chain.id, each.chain.name, each.contract, each.decimals)
        for code, each in TOKENS.items()
    }
    assert known == ON_CHAIN


def test_no_two_ways_to_pay_can_be_confused() -> None:
    assert len(CODES) == len({LIGHTNING, *TOKENS})
    assert len({token.rail for token in TOKENS.values()}) == len(TOKENS)
    assert len({(token.chain.id, token.contract.lower()) for token in TOKENS.values()}) == len(TOKENS)


@pytest.mark.parametrize("locale", LOCALES)
def test_every_way_to_pay_has_a_name(locale: str) -> None:
    sentences = read_catalogue(locale).sentences
    assert [name_key(code) for code in CODES if name_key(code) not in sentences] == []


def test_operators_see_every_rail_by_name() -> None:
    assert {token.rail: name_key(code) for code, token in TOKENS.items()}.items() <= NAMES.items()


def test_rails_are_read_under_the_services_own_keys() -> None:
    rail = {"chainId": 1, "safeAddress": "0xS", "token": "T", "contractAddress": "0xT", "decimals": 8}
    rails = {token.rail: {**rail, "depositChannel": code} for code, token in TOKENS.items()}
    assert read(DepositRails, ServiceResponse(200, {"configured": True, **rails})).channels == set(TOKENS)
    assert read(DepositRails, ServiceResponse(200, {"configured": False, **rails})).channels == set()


@pytest.mark.parametrize(
    ("items", "sentence"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_list_reads_as_a_sentence_has_it(items: list[str], sentence: str) -> None:
    assert join_words(items) == sentence
