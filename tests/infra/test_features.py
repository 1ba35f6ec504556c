"""Features declare what they do for the features below them."""

from enum import StrEnum
from typing import Any, cast

import pytest

from bot.infra.feature import Feature, Features

ANY: Any = cast("Any", object())


class Action(StrEnum):
    SHOW = "show"
    HIDE = "hide"


@pytest.mark.parametrize("slot", ["conversation", "read_welcome_facts", "describe_ticket"])
def test_only_one_feature_can_have_some_parts(slot: str) -> None:
    one, other = (Feature(name=name, **{slot: ANY}) for name in ("checkout", "support"))
    with pytest.raises(ValueError, match=f"checkout and support both have {slot}"):
        Features(one, other)


@pytest.mark.parametrize("slot", ["order_actions", "recipient_actions", "alarm_subjects"])
def test_two_features_cannot_do_the_same_action(slot: str) -> None:
    both: dict[str, Any] = {slot: {Action.SHOW: ANY, Action.HIDE: ANY}}
    show: dict[str, Any] = {slot: {Action.SHOW: ANY}}
    one, other = Feature(name="checkout", **both), Feature(name="support", **show)
    with pytest.raises(ValueError, match=f"two features have {slot} for SHOW"):
        Features(one, other)


def test_what_features_declare_is_found_after_all_are_built() -> None:
    features = Features()
    assert list(features) == []
    checkout, support = Feature(name="checkout"), Feature(name="support")
    features.connect([checkout, support])
    assert list(features) == [checkout, support]
