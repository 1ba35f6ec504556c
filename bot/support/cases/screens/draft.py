"""What a customer is filling in, as support sees it. The number is masked, and nothing that they typed is repeated."""

from collections.abc import Iterator
from datetime import datetime

from bot.checkout.draft import DraftStatus, OrderDraft, Refusal
from bot.checkout.screens.formatting import format_draft_line
from bot.infra.i18n import Html
from bot.infra.telegram.ui.reader import Reader
from bot.orders.screens.formatting import format_channel
from bot.payments.tokens import LIGHTNING
from bot.recipients.matching import mask_number

LEFT_OUT = "…"
"""Stands for a part of a refusal that the customer may have typed."""


def format_draft(reader: Reader, draft: OrderDraft) -> Html:
    """Return the question that is open, the answers so far, and why an answer was refused last."""
    return Html("\n".join(_lines(reader, draft)))


def _lines(reader: Reader, draft: OrderDraft) -> Iterator[str]:
    t = reader.t
    is_open = draft.status is DraftStatus.OPEN and reader.now < draft.expires_at
    key = "support.draft.open" if is_open else "support.draft.paused"
    yield t(key, at=reader.format_time(draft.changed_at, round_up=False))
    yield t("support.draft.step", step=t(f"support.draft.step.{draft.step}"))
    if draft.terms is not None:
        yield t("support.draft.request")
    if answers := format_draft_line(t, draft):
        yield answers
    if draft.number is None and draft.doubtful_number:
        yield t("support.draft.doubtful", number=mask_number(draft.doubtful_number))
    if draft.channel != LIGHTNING:
        yield t("support.draft.channel", channel=format_channel(t, draft.channel))
    if draft.refusal is not None:
        yield _format_refusal(reader, draft.refusal)


def _format_refusal(reader: Reader, refusal: Refusal) -> Html:
    t = reader.t

    def show(value: int | datetime | None) -> object:
        if value is None:
            return LEFT_OUT
        return reader.format_time(value) if isinstance(value, datetime) else value

    return t(
        "support.draft.refused",
        at=reader.format_time(refusal.at, round_up=False),
        step=t(f"support.draft.step.{refusal.step}"),
        reason=t(refusal.key, **{name: show(value) for name, value in refusal.arguments.items()}),
    )
