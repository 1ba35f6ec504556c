"""The metrics of broadcasts."""

from typing import Final

from bot.broadcasts.model import DeliveryStatus
from bot.infra.metrics import counter

UNFINISHED: Final = (DeliveryStatus.WAITING, DeliveryStatus.SENDING)

DELIVERIES: Final = counter(
    "kirim_broadcast_deliveries",
    "Messages of broadcasts by result.",
    status=tuple(status.value for status in DeliveryStatus if status not in UNFINISHED),
)
