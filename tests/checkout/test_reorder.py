"""Whether two drafts ask for the same."""

from dataclasses import replace

from bot.checkout.draft import Ask
from bot.checkout.reorder import is_same_wish
from bot.core.money import Amount
from tests.architecture.every_screen import BCA, GOPAY, a_draft


def test_two_drafts_are_one_wish_while_all_that_was_answered_is_the_same() -> None:
    draft = a_draft()
    assert is_same_wish(draft, a_draft(id="another", quote=None, revision=1, channel="cbbtc"))
    assert is_same_wish(draft, a_draft(method=replace(BCA, cap=1)))
    others = ({"ask": Ask.AMOUNT}, {"method": GOPAY}, {"method": None}, {"number": "1"}, {"holder": None})
    for changed in (*others, {"amount": Amount("IDR", 1)}, {"amount": Amount("SAT", 500_000)}):
        assert not is_same_wish(draft, a_draft(**changed)), changed
