"""Values of payment reminders, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from bot.core.money import MAX_RUPIAH
from bot.payment_reminders import screens
from bot.payment_reminders.model import MAX_REMINDERS, MAX_UNANSWERED, PaymentReminder
from tests.payment_reminders.builders import a_reminder
from tests.screens import NOW, Outside

REMINDERS: Final = (
    a_reminder(due_at=NOW),
    a_reminder(day="31", idr=MAX_RUPIAH, due_at=NOW, unanswered=MAX_UNANSWERED),
)

SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    PaymentReminder: lambda _: REMINDERS,
    Sequence[PaymentReminder]: lambda _: ((), REMINDERS * (MAX_REMINDERS // 2)),
    (screens.ask_day, "idr"): lambda _: (500_000, MAX_RUPIAH),
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    PaymentReminder: lambda reminder, t: (t.rupiah(reminder.idr),),
    (screens.ask_day, "idr"): lambda idr, t: (t.rupiah(idr),),
}
