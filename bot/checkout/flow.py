"""The map of the conversation: its questions in order, what a draft waits for, what leads back, what can be changed.

What is asked next, Back, the review's buttons and the drawing (`flow.mmd`) all derive from `STEPS`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from bot.checkout.draft import IDLE_LIMIT, Ask, OrderDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One question of the conversation.

    Args:
        is_known: whether a draft has the answer, so that the question is left out.
        back: the question that Back leads to while the draft isn't complete; None for the first one.
        edit: what the review's button that leads here is called.
        only_from_review: never asked on the way to the review.
        leads_to: where answers lead, and which; for the drawing.
    """

    is_known: Callable[[OrderDraft], bool]
    back: Ask | None = None
    edit: str = ""
    only_from_review: bool = False
    leads_to: Mapping[Ask, str] = field(default_factory=dict)


STEPS: Mapping[Ask, Step] = {
    Ask.DESTINATION: Step(
        is_known=lambda draft: draft.method is not None,
        edit="method",
        leads_to={Ask.NUMBER: "name typed or picked", Ask.AMOUNT: "sent to before", Ask.REVIEW: "one line"},
    ),
    Ask.NUMBER: Step(
        is_known=lambda draft: draft.number is not None,
        back=Ask.DESTINATION,
        edit="number",
        leads_to={
            Ask.HOLDER: "number (unusual ones are asked about)",
            Ask.AMOUNT: "number sent to before (its holder is known)",
        },
    ),
    Ask.HOLDER: Step(
        is_known=lambda draft: draft.holder_asked,
        back=Ask.NUMBER,
        edit="holder",
        leads_to={Ask.AMOUNT: "name, or skipped"},
    ),
    Ask.AMOUNT: Step(
        is_known=lambda draft: draft.amount is not None,
        back=Ask.HOLDER,
        edit="amount",
        leads_to={Ask.REVIEW: "sum (ambiguous ones are asked back)"},
    ),
    Ask.CHANNEL: Step(
        is_known=lambda _: True,
        back=Ask.REVIEW,
        edit="channel",
        only_from_review=True,
        leads_to={Ask.REVIEW: "way to pay"},
    ),
    Ask.REVIEW: Step(
        is_known=lambda _: False,
        back=Ask.AMOUNT,
        leads_to={Ask.DESTINATION: "destination vanished", Ask.AMOUNT: "sum no longer fits"},
    ),
}
"""The whole conversation, in the order in which it asks."""

BEGINNINGS: Mapping[Ask, str] = {
    Ask.DESTINATION: "/send · Send rupiah",
    Ask.REVIEW: "/send and one line, or the line alone (what it leaves open is asked first)",
    Ask.AMOUNT: "a saved recipient",
}
"""Where a conversation begins, and with what; for the drawing."""

EDITS: Mapping[str, Ask] = {step.edit: ask for ask, step in STEPS.items() if step.edit}
"""The review's buttons, and the question that each leads to."""


def missing(draft: OrderDraft) -> Ask:
    """Return the first question whose answer is unknown; the review where nothing is missing."""
    return next(ask for ask, step in STEPS.items() if not step.is_known(draft))


def is_complete(draft: OrderDraft) -> bool:
    """Return whether nothing is left to ask before the review."""
    return missing(draft) is Ask.REVIEW


def step_back(draft: OrderDraft) -> OrderDraft:
    """Return the draft one question earlier, with its answers so far.

    What was changed from the review leads back to the review.
    """
    step = STEPS[draft.ask]
    if step.only_from_review or (is_complete(draft) and draft.ask is not Ask.REVIEW):
        return replace(draft, ask=Ask.REVIEW)
    return replace(draft, ask=step.back or draft.ask, doubtful_number=None)


def draw() -> str:
    """Return the drawing of the conversation, in Mermaid's language."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield "%% Drawn from STEPS in bot/checkout/flow.py: python -m bot.checkout.flow > bot/checkout/flow.mmd"
    yield "stateDiagram-v2"
    yield "    direction TB"
    for target, label in BEGINNINGS.items():
        yield f"    [*] --> {target}: {label}"
    for ask, step in STEPS.items():
        for target, label in step.leads_to.items():
            if ask is not Ask.REVIEW:
                yield f"    {ask} --> {target}: {label}"
    review = STEPS[Ask.REVIEW]
    for ask in EDITS.values():
        back = "back" if ask is review.back else ""
        yield f"    review --> {ask}: {' · '.join(filter(None, ('edit', review.leads_to.get(ask), back)))}"
    for ask, step in STEPS.items():
        if step.back is not None and ask is not Ask.REVIEW:
            yield f"    {ask} --> {step.back}: back"
    yield "    review --> [*]: confirm (notifications tell the rest, outside the conversation)"
    minutes = IDLE_LIMIT.total_seconds() // 60
    for ask in STEPS:
        idle = f"{minutes:.0f} minutes idle (Continue takes it up again)" if ask is Ask.DESTINATION else "idle"
        yield f"    {ask} --> [*]: cancel · {idle}"


if __name__ == "__main__":
    print(draw(), end="")  # noqa: T201  the file's content
