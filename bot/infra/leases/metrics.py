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
CLOCK_OFFSET: Final = gauge(
    "kirim_clock_offset_seconds",
    "How far this machine's clock is ahead of the database's. Kirim bears two seconds.",
)
