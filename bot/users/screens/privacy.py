"""What Kirim stores about a user, and the ways to see, download and delete it."""

from datetime import UTC, datetime, timedelta, tzinfo

from bot.infra.i18n import LOCALES, Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.users.buttons import DeletionButton, PrivacyAction, PrivacyButton
from bot.users.privacy import DeletionBlockers, Overview
from bot.users.provider import UNNAMED, Provider, format_provider

EPOCH, TICK = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def format_asked_at(moment: datetime) -> str:
    """Return a time for a button's data, in microseconds: a user can start and ask for deletion in the same second."""
    return str((moment - EPOCH) // TICK)


def parse_asked_at(packed: str) -> datetime:
    """Return the time that `format_asked_at` wrote."""
    return EPOCH + int(packed) * TICK


def show_privacy(
    t: Translator, retention_days: int, run_by: Provider = UNNAMED, *, is_deletion_requested: bool
) -> Screen:
    """Return what is stored, why, for how long, and what can't be deleted here."""
    parts: list[str] = [
        t(
            "users.privacy.text",
            how_long=_format_period(t, retention_days),
            orders=_format_order_period(t, retention_days),
            tickets=_format_ticket_period(t, retention_days),
        )
    ]
    if is_deletion_requested:
        parts.append(t("users.privacy.wished"))
    parts += format_provider(t, run_by)
    see = (_button(t, "users.privacy.see", PrivacyAction.SEE), _button(t, "users.privacy.file", PrivacyAction.FILE))
    return Screen("\n\n".join(parts), (see, (_deletion_button(t, is_deletion_requested=is_deletion_requested),)))


def show_summary(t: Translator, overview: Overview, zone: tzinfo) -> Screen:
    """Return a summary of the user's data. Numbers are masked, since others may see the chat."""
    user = overview.user
    profile = t(
        "users.privacy.profile",
        since=t.date(user.created_at, zone),
        language=LOCALES[t.locale].name,
        zone=user.zone.key,
        phrase=t.plain("users.privacy.phrase_set" if user.phrase else "users.privacy.phrase_unset"),
    )
    called = [t("users.privacy.public_name", name=f"@{user.username}")] if user.username else []
    parts = [
        "\n".join([profile, *called]),
        *(part for each in overview.stored for part in each.records(t)),
        *(part for each in overview.stored for part in each.settings(t)),
    ]
    return Screen(
        "\n\n".join(parts),
        (
            (_button(t, "users.privacy.file", PrivacyAction.FILE),),
            (_button(t, "users.button.back", PrivacyAction.SHOW),),
        ),
    )


def ask_confirmation(t: Translator, overview: Overview, blockers: DeletionBlockers, asked_at: datetime) -> Screen:
    """Return the question before a deletion: what will be deleted, and what has to end first."""
    counts = {name: text for each in overview.stored for name, text in each.counts(t).items()}
    parts = [
        t("users.privacy.confirm", **counts),
        *(part for each in overview.stored for part in each.warnings(t)),
        *(blocker.notice(t) for blocker in blockers.blockers),
    ]
    confirmed = DeletionButton(overview.user.id, format_asked_at(asked_at))
    yes = Button(t.plain("users.privacy.yes"), data=confirmed.pack(), style="danger")
    return Screen("\n\n".join(parts), ((yes,), (_button(t, "users.privacy.no", PrivacyAction.SHOW),)))


def explain_waiting(t: Translator, blockers: DeletionBlockers, now: datetime) -> Screen:
    """Return that the request is saved, what is still open, and that the deletion follows automatically."""
    reasons = [blocker.details(t, now) for blocker in blockers.blockers] or [t("users.privacy.still_telling")]
    parts = [t("users.privacy.noted"), *reasons, t("users.privacy.by_itself")]
    return Screen("\n\n".join(parts), ((_button(t, "users.privacy.keep", PrivacyAction.CANCEL_DELETION),),))


def confirm_deleted(t: Translator) -> Screen:
    """Return that everything was deleted. There is no button, since a user who continues is a new one."""
    return Screen(t("users.privacy.deleted"))


def explain_deleted_before(t: Translator) -> Screen:
    """Return that the data was deleted before, for a user who has started again since."""
    return Screen(t("users.privacy.done_before"), ((_button(t, "users.privacy.open", PrivacyAction.SHOW),),))


def file_row(t: Translator) -> Keyboard:
    """Return the row with the button that sends the file again."""
    return ((_button(t, "users.privacy.file", PrivacyAction.FILE),),)


def _format_period(t: Translator, days: int) -> str:
    return t.plural("users.privacy.for_days", days) if days else t("users.privacy.until_deleted")


def _format_order_period(t: Translator, days: int) -> str:
    return t.plural("users.privacy.orders_for_days", days) if days else t("users.privacy.orders_until_deleted")


def _format_ticket_period(t: Translator, days: int) -> str:
    return t.plural("users.privacy.tickets_for_days", days) if days else t("users.privacy.until_deleted")


def _deletion_button(t: Translator, *, is_deletion_requested: bool) -> Button:
    if is_deletion_requested:
        return _button(t, "users.privacy.keep", PrivacyAction.CANCEL_DELETION)
    return Button(t.plain("users.privacy.delete"), data=PrivacyButton(PrivacyAction.DELETE).pack(), style="danger")


def _button(t: Translator, label: str, action: PrivacyAction) -> Button:
    return Button(t.plain(label), data=PrivacyButton(action).pack())
