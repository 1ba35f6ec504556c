"""Payloads of notifications: frozen dataclasses in the program, JSON in the column."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.infra.outbox.model import Notification, NotificationKind, StoredNotification

_ADAPTERS: dict[type[object], TypeAdapter[Any]] = {}
"""Payload type -> its pydantic adapter, created when it is first needed."""


class PayloadUnreadable(Exception):
    """The payload of a row doesn't match its kind. The text of this error doesn't quote it."""


def pack(payload: object) -> dict[str, Any]:
    """Return a payload as JSON values. A payload that was read from a row and not unpacked stays unchanged."""
    if isinstance(payload, Mapping):
        return dict(payload)
    packed: dict[str, Any] = _get_adapter(type(payload)).dump_python(payload, mode="json")
    return packed


def unpack(kind: NotificationKind, notification: StoredNotification) -> Notification[Any]:
    """Return the notification with its kind as `kind`, and its payload as the type of that kind.

    Raises:
        PayloadUnreadable: the payload doesn't match the kind.
    """
    try:
        payload = _get_adapter(kind.payload).validate_python(notification.payload)
    except ValidationError:
        # `from None`: the cause quotes the payload.
        raise PayloadUnreadable from None
    return replace(notification, kind=kind, payload=payload)


def _get_adapter(payload: type[object]) -> TypeAdapter[Any]:
    if payload not in _ADAPTERS:
        _ADAPTERS[payload] = TypeAdapter(payload)
    return _ADAPTERS[payload]
