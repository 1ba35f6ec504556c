"""Whether two drafts ask for the same."""

from bot.checkout.draft import OrderDraft


def is_same_wish(one: OrderDraft, other: OrderDraft) -> bool:
    """Whether two drafts stand at the same question with the same answers, whatever quote they have been shown."""
    return _answers(one) == _answers(other)


def _answers(draft: OrderDraft) -> tuple[object, ...]:
    return draft.ask, draft.method and draft.method.key(), draft.number, draft.holder, draft.amount
