"""The screens of payment reminders. Recipients are masked, since others may see the chat."""

from collections.abc import Sequence

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen, in_rows
from bot.payment_reminders.buttons import MONTH, WEEK, NewReminderButton, ReminderAction, ReminderButton
from bot.payment_reminders.model import MAX_UNANSWERED, MONTH_DAYS, WEEKDAYS, PaymentReminder
from bot.recipients.model import SavedRecipient
from bot.recipients.screens import masked_line

DAYS_PER_ROW = 7


def ask_day(
    t: Translator, recipient: SavedRecipient, idr: int, reminders: Sequence[PaymentReminder], *, of_month: bool
) -> Screen:
    """Ask for a day of the week or of the month. `reminders` are those that the recipient has, which can be stopped."""

    def button(label: str, day: str) -> Button:
        return Button(label, data=NewReminderButton(recipient.id, idr, day).pack())

    if of_month:
        weeks = in_rows((button(day, day) for day in MONTH_DAYS), DAYS_PER_ROW)
        days = (*weeks, (button(t.plain("payment_reminders.button.week"), WEEK),))
    else:
        other = button(t.plain("payment_reminders.button.month"), MONTH)
        days = in_rows((*(button(_format_weekday(t, day), day) for day in WEEKDAYS), other))
    stops = tuple(
        (_button(t.plain("payment_reminders.button.stop_one", what=_format_plan(t, each)), each, ReminderAction.STOP),)
        for each in reminders
    )
    text = t("payment_reminders.ask_day", amount=t.rupiah(idr), who=masked_line(recipient))
    return Screen(text, (*days, *stops))


def show_next(reader: Reader, recipient: SavedRecipient, reminder: PaymentReminder, *, is_new: bool) -> Screen:
    """Say when a reminder comes that was set, or of which the last message was skipped."""
    t = reader.t
    line, at = format_line(t, reminder, recipient), reader.format_time(reminder.due_at)
    key = "payment_reminders.set" if is_new else "payment_reminders.skipped"
    return Screen(t(key, line=line, at=at, most=MAX_UNANSWERED), ((_stop_button(t, reminder),),))


def show_due(reader: Reader, recipient: SavedRecipient, reminder: PaymentReminder) -> Screen:
    """Return the reminder. The last one before it ends says so."""
    t = reader.t
    day = (
        _format_weekday(t, reminder.day)
        if reminder.day in WEEKDAYS
        else reader.t.date(reader.now, reader.zone, with_year=False)
    )
    text = t("payment_reminders.due", day=day, amount=t.rupiah(reminder.idr), who=masked_line(recipient))
    if reminder.unanswered >= MAX_UNANSWERED:
        text = Html(f"{text}\n\n{t('payment_reminders.last')}")
    prepare = _button(t.plain("payment_reminders.button.prepare"), reminder, ReminderAction.PREPARE)
    skip = _button(t.plain("payment_reminders.button.skip"), reminder, ReminderAction.SKIP)
    return Screen(text, ((prepare,), (skip, _stop_button(t, reminder))))


def show_stopped(t: Translator, recipient: SavedRecipient, reminder: PaymentReminder) -> Screen:
    """Say that no more reminders come."""
    return Screen(t("payment_reminders.stopped", line=format_line(t, reminder, recipient)))


def format_line(t: Translator, reminder: PaymentReminder, recipient: SavedRecipient) -> Html:
    """Return a reminder as a line: "Every Friday: Rp500,000 to Ibu · BCA ••••7890"."""
    return t("payment_reminders.line", plan=_format_plan(t, reminder), who=masked_line(recipient))


def _format_plan(t: Translator, reminder: PaymentReminder) -> str:
    amount = t.rupiah(reminder.idr)
    if reminder.day in WEEKDAYS:
        return t.plain("payment_reminders.weekly", day=_format_weekday(t, reminder.day), amount=amount)
    return t.plain("payment_reminders.monthly", day=reminder.day, amount=amount)


def _format_weekday(t: Translator, day: str) -> str:
    return t.plain(f"payment_reminders.day.{day}")


def _stop_button(t: Translator, reminder: PaymentReminder) -> Button:
    return _button(t.plain("payment_reminders.button.stop"), reminder, ReminderAction.STOP)


def _button(label: str, reminder: PaymentReminder, action: ReminderAction) -> Button:
    return Button(label, data=ReminderButton(reminder.id, action, reminder.idr).pack())
