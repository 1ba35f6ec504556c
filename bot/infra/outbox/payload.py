"""Payloads of notifications: frozen dataclasses in the program, JSON in the column."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.infra.outbox.model import Notification, NotificationKind, StoredNotification

_ADAPTERS: dict[type[object], TypeAdapter[Any]] = {}
"""Payload type -> how pydantic packs it, made when it is first needed."""


class PayloadUnreadable(Exception):
    """A row's payload isn't what its kind needs. The text of this error says nothing of it."""


def pack(payload: object) -> dict[str, Any]:
    """Return a payload as JSON values. One that was read from a row, and never unpacked, stays as it is."""
    if isinstance(payload, Mapping):
        return dict(payload)
    packed: dict[str, Any] = _adapter(type(payload)).dump_python(payload, mode="json")
    return packed


def unpack(kind: NotificationKind, notification: StoredNotification) -> Notification[Any]:
    """Return the notification with its kind, and with its payload as that kind has it.

    Raises:
        PayloadUnreadable: its payload has another form.
    """
    try:
        payload = _adapter(kind.payload).validate_python(notification.payload)
    except ValidationError:
        # Without the cause, which quotes the payload.
        raise PayloadUnreadable from None
    return replace(notification, kind=kind, payload=payload)


def _adapter(payload: type[object]) -> TypeAdapter[Any]:
    if payload not in _ADAPTERS:
        _ADAPTERS[payload] = TypeAdapter(payload)
    return _ADAPTERS[payload]
