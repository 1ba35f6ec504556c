"""The questions of the conversation in one table: their order, where Back leads, and what the review can change.

The next question, Back, the review's buttons and the drawing (`flow.mmd`) are derived from `STEPS`. Drafts of payment
requests have a table of their own, `REQUEST_STEPS`. They share the questions for the recipient and the amount.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from bot.checkout.draft import IDLE_LIMIT, OrderDraft, RequestTerms, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
    """One question of the conversation.

    Args:
        is_known: whether a draft has the answer, so that the question is left out.
        back: the question that Back leads to while the draft isn't complete. None for the first question.
        edit: the name of the review's button that leads here.
        only_from_review: never asked on the way to the review.
        leads_to: the questions that answers lead to, each with a label for the drawing.
    """

    is_known: Callable[[OrderDraft], bool]
    back: Step | None = None
    edit: str = ""
    only_from_review: bool = False
    leads_to: Mapping[Step, str] = field(default_factory=dict)


STEPS: Mapping[Step, StepSpec] = {
    Step.DESTINATION: StepSpec(
        is_known=lambda draft: draft.method is not None,
        edit="method",
        leads_to={Step.NUMBER: "name typed or picked", Step.AMOUNT: "sent to before", Step.REVIEW: "one line"},
    ),
    Step.NUMBER: StepSpec(
        is_known=lambda draft: draft.number is not None,
        back=Step.DESTINATION,
        edit="number",
        leads_to={
            Step.HOLDER: "number (unusual ones are asked about)",
            Step.AMOUNT: "number sent to before (its holder is known)",
        },
    ),
    Step.HOLDER: StepSpec(
        is_known=lambda draft: draft.holder_asked,
        back=Step.NUMBER,
        edit="holder",
        leads_to={Step.AMOUNT: "name, or skipped"},
    ),
    Step.AMOUNT: StepSpec(
        is_known=lambda draft: draft.amount is not None,
        back=Step.HOLDER,
        edit="amount",
        leads_to={
            Step.REVIEW: "amount (ambiguous ones are asked back)",
            Step.NUMBER: "amount of a line that was asked about first",
        },
    ),
    Step.REVIEW: StepSpec(
        is_known=lambda _: False,
        back=Step.AMOUNT,
        leads_to={
            Step.DESTINATION: "destination vanished",
            Step.AMOUNT: "amount no longer fits · doubtful amount typed",
        },
    ),
}
"""All questions about an order, in the order in which they are asked."""


def _terms(draft: OrderDraft) -> RequestTerms:
    return draft.terms or RequestTerms()


REQUEST_STEPS: Mapping[Step, StepSpec] = {
    Step.DESTINATION: StepSpec(is_known=lambda draft: draft.method is not None, edit="method"),
    Step.NUMBER: StepSpec(is_known=lambda draft: draft.number is not None, back=Step.DESTINATION, edit="number"),
    # Payers must see whom they pay, so this name can't be skipped.
    Step.HOLDER: StepSpec(is_known=lambda draft: draft.holder is not None, back=Step.NUMBER, edit="holder"),
    Step.AMOUNT: StepSpec(
        is_known=lambda draft: draft.amount is not None or _terms(draft).payer_decides, back=Step.HOLDER, edit="amount"
    ),
    Step.NOTE: StepSpec(is_known=lambda draft: _terms(draft).note_asked, back=Step.AMOUNT, edit="note"),
    Step.USES: StepSpec(is_known=lambda draft: _terms(draft).is_reusable is not None, back=Step.NOTE, edit="uses"),
    Step.END: StepSpec(is_known=lambda _: True, back=Step.REVIEW, edit="end", only_from_review=True),
    Step.REVIEW: StepSpec(is_known=lambda _: False, back=Step.USES),
}
"""All questions about a payment request, in the order in which they are asked."""

BEGINNINGS: Mapping[Step, str] = {
    Step.DESTINATION: "/send · Send rupiah · a shared contact",
    Step.REVIEW: "/send and one line, or the line alone (what it leaves open is asked first)",
    Step.AMOUNT: "a saved recipient",
}
"""Where a conversation begins, each with a label for the drawing."""


def steps_of(draft: OrderDraft) -> Mapping[Step, StepSpec]:
    """Return the questions that are asked for what the draft is to become."""
    return STEPS if draft.terms is None else REQUEST_STEPS


def edits_of(steps: Mapping[Step, StepSpec]) -> Mapping[str, Step]:
    """Return the buttons of the review, and the question that each leads to."""
    return {spec.edit: step for step, spec in steps.items() if spec.edit}


def missing(draft: OrderDraft) -> Step:
    """Return the first question without an answer, or the review."""
    return next(step for step, spec in steps_of(draft).items() if not spec.is_known(draft))


def is_complete(draft: OrderDraft) -> bool:
    """Return whether nothing is left to ask before the review."""
    return missing(draft) is Step.REVIEW


def step_back(draft: OrderDraft) -> OrderDraft:
    """Return the draft one question earlier, with its answers so far.

    What was changed from the review leads back to the review.
    """
    steps = steps_of(draft)
    spec = steps[draft.step]
    if spec.only_from_review or (is_complete(draft) and draft.step is not Step.REVIEW):
        return replace(draft, step=Step.REVIEW)
    order, back = list(steps), spec.back or draft.step
    # An amount that was in doubt was asked about before the recipient, who is asked for next.
    return replace(draft, step=min(back, missing(draft), key=order.index), doubtful_number=None)


def draw() -> str:
    """Return the drawing of the conversation, in Mermaid's language."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield "%% Drawn from STEPS in bot/checkout/flow.py: python -m bot.checkout.flow > bot/checkout/flow.mmd"
    yield "stateDiagram-v2"
    yield "    direction TB"
    for target, label in BEGINNINGS.items():
        yield f"    [*] --> {target}: {label}"
    for step, spec in STEPS.items():
        for target, label in spec.leads_to.items():
            if step is not Step.REVIEW:
                yield f"    {step} --> {target}: {label}"
    review = STEPS[Step.REVIEW]
    for step in edits_of(STEPS).values():
        back = "back" if step is review.back else ""
        yield f"    review --> {step}: {' · '.join(filter(None, ('edit', review.leads_to.get(step), back)))}"
    for step, spec in STEPS.items():
        if spec.back is not None and step is not Step.REVIEW:
            yield f"    {step} --> {spec.back}: back"
    yield "    review --> [*]: confirm (notifications tell the rest, outside the conversation)"
    minutes = IDLE_LIMIT.total_seconds() // 60
    for step in STEPS:
        idle = f"{minutes:.0f} minutes idle (Continue takes it up again)" if step is Step.DESTINATION else "idle"
        yield f"    {step} --> [*]: cancel · {idle}"


if __name__ == "__main__":
    print(draw(), end="")  # noqa: T201  the file's content
