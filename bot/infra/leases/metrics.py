"""The metrics of leases."""

from typing import Final

from bot.infra.metrics import counter, gauge

CHATS_HELD: Final = gauge("kirim_chat_leases_held", "Chats whose lease this process holds.")
CHAT_LEASES: Final = counter(
    "kirim_chat_leases",
    "Leases of chats. `taken_over` ended without a release, because their process died, froze or was cut off."
    " `lost` were this process's own.",
    event=("claimed", "taken_over", "released", "lost"),
)
LEADER_EPOCH: Final = gauge("kirim_leader_epoch", "How often the lead has passed on, if this process leads. Else 0.")
CLOCK_OFFSET: Final = gauge(
    "kirim_clock_offset_seconds",
    "How far this machine's clock is ahead of the database's. Kirim bears two seconds.",
)
