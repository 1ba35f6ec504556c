"""What users see: the start, their settings, the anti-phishing phrase, and what Kirim stores about them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from bot.core.zones import INDONESIAN, PRESUMED, zone_of
from bot.infra.i18n import LOCALES, Translator
from bot.infra.i18n.formats import find_city
from bot.infra.telegram.ui.reader import Reader, quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.users.buttons import (
    DeletionButton,
    LanguageButton,
    PhraseAction,
    PhraseButton,
    PrivacyAction,
    PrivacyButton,
    SettingsAction,
    SettingsButton,
    send_row,
)
from bot.users.model import UNNAMED, Provider, format_provider
from bot.users.phrase import MAX_LENGTH, MIN_LENGTH, Suggestion
from bot.users.privacy import DeletionBlockers, Overview

SHOW_PHRASE, NEW_PHRASE, OWN_PHRASE = (
    PhraseButton(action).pack() for action in (PhraseAction.SHOW, PhraseAction.NEW, PhraseAction.OWN)
)


def ask_language(t: Translator) -> Screen:
    """Return all languages, each with its own name."""
    return Screen(
        t("users.language.ask"),
        (tuple(Button(locale.name, data=LanguageButton(code).pack()) for code, locale in LOCALES.items()),),
    )


def ask_zone(reader: Reader) -> Screen:
    """Return buttons for Indonesia's three zones, with the time there, and one for other places."""
    t = reader.t
    three = tuple(Button(t.clock(reader.now, ZoneInfo(key)), data=_zone_data(key)) for key in INDONESIAN)
    other = Button(t.plain("users.zone.other"), data=SettingsButton(SettingsAction.PLACE).pack())
    return Screen(t("users.zone.ask", time=format_zone(reader, reader.zone)), (three, (other,), back_row(t)))


def ask_place(t: Translator) -> Screen:
    """Return the question for another place."""
    return Screen(
        t("users.zone.ask_place"),
        ((Button(t.plain("users.button.back"), data=SettingsButton(SettingsAction.ZONES).pack()),),),
    )


def offer_zones(reader: Reader, query: str, keys: Sequence[str]) -> Screen:
    """Return the zones that a typed place can mean, with the current time there. The user chooses by a tap."""
    t = reader.t
    if len(keys) == 1:
        text = t("users.zone.is_it", time=format_zone(reader, zone_of(keys[0])))
        rows: Keyboard = ((Button(t.plain("users.zone.use"), data=_zone_data(keys[0]), style="success"),),)
    else:
        text = t("users.zone.which", query=quote_input(query))
        rows = tuple((Button(format_zone(reader, zone_of(key)), data=_zone_data(key)),) for key in keys)
    another = Button(t.plain("users.zone.another"), data=SettingsButton(SettingsAction.PLACE).pack())
    return Screen(text, (*rows, (another,), back_row(t)))


def back_row(t: Translator) -> tuple[Button, ...]:
    """Return the row with the button back to the settings."""
    return (Button(t.plain("users.button.settings"), data=SettingsButton(SettingsAction.SHOW).pack()),)


def _zone_data(key: str) -> str:
    return SettingsButton(SettingsAction.ZONE, key).pack()


def format_zone(reader: Reader, zone: tzinfo) -> str:
    """Return a zone with its current time: "17:05 UTC+9 · Tokyo", "10:05 WIB"."""
    where = "" if zone is PRESUMED else find_city(getattr(zone, "key", ""), reader.t.locale)
    clock = reader.t.clock(reader.now, zone)
    return f"{clock} · {where}" if where else clock


def choice_rows(t: Translator, suggestion: Suggestion) -> Keyboard:
    """Return the buttons to use the suggestion, see another, or type a phrase."""
    use = Button(t.plain("users.phrase.use"), data=PhraseButton(PhraseAction.USE, suggestion.code).pack())
    another = Button(t.plain("users.phrase.another"), data=NEW_PHRASE)
    return ((use,), (another, Button(t.plain("users.phrase.own"), data=OWN_PHRASE)))


def offer_suggestion(t: Translator, suggestion: Suggestion, *, has_one: bool) -> Screen:
    """Return a suggestion and what it is for. Another button lets users continue without choosing."""
    text = t("users.phrase.offer", phrase=suggestion.text)
    way_on = (Button(t.plain("users.button.back"), data=SHOW_PHRASE),) if has_one else send_row(t)
    return Screen(text, (*choice_rows(t, suggestion), way_on))


def show_phrase(t: Translator, phrase: str) -> Screen:
    """Return the user's phrase, with buttons to change it."""
    return Screen(
        t("users.phrase.mine", phrase=phrase),
        (
            (
                Button(t.plain("users.phrase.suggest"), data=NEW_PHRASE),
                Button(t.plain("users.phrase.own"), data=OWN_PHRASE),
            ),
            back_row(t),
        ),
    )


def ask_phrase(t: Translator) -> Screen:
    """Return the question for the user's own phrase."""
    text = t("users.phrase.ask", shortest=MIN_LENGTH, longest=MAX_LENGTH)
    return Screen(text, ((Button(t.plain("users.button.back"), data=SHOW_PHRASE),),))


def confirm_saved(t: Translator, phrase: str) -> Screen:
    """Return the confirmation that the phrase is saved."""
    return Screen(t("users.phrase.kept", phrase=phrase), (send_row(t), back_row(t)))


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
        *(part for each in overview.stored for part in each.format_rows(t)),
        *(each.settings(t) for each in overview.stored if each.settings is not None),
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
    counts = {each.key.rpartition(".")[2]: each.format_count(t) for each in overview.stored if each.key}
    parts = [
        t("users.privacy.confirm", **counts),
        *(t(key, **arguments) for each in overview.stored for key, arguments in each.warnings),
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
