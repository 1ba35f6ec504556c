"""Six saved replies for support to begin with, where support has written none of its own."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from bot.infra.db.columns import Instant, Json

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

NOBODY = 0
"""Who wrote them: none of the staff."""

REPLIES = {
    "payment-received": {
        "en": "We've received your payment for order {reference} and are working on it. You don't need to do anything."
        " Please don't pay again.",
        "id": "Pembayaran untuk transaksi {reference} sudah kami terima dan sedang kami proses. Kamu tidak perlu"
        " melakukan apa-apa. Jangan bayar lagi.",
    },
    "bank-delay": {
        "en": "We've sent the {amount} to {destination}. The bank or e-wallet may need more time to show it. Please"
        " tell us here if it still isn't there tomorrow.",
        "id": "{amount} ke {destination} sudah kami kirim. Bank atau e-wallet mungkin perlu waktu sampai uangnya"
        " kelihatan. Kabari kami di sini kalau besok belum masuk juga.",
    },
    "failed-checking": {
        "en": "We're sorry. The payout for order {reference} failed after your payment. We've asked our payment"
        " partner and will write to you here as soon as we know more. Please don't pay again.",
        "id": "Mohon maaf, pengiriman rupiah untuk transaksi {reference} gagal setelah kamu membayar. Kami sudah"
        " menanyakannya ke mitra pembayaran kami dan akan mengabarimu di sini. Jangan bayar lagi.",
    },
    "confirm-number": {
        "en": "Could you check the number for {destination} with the recipient? The last digits may be wrong.",
        "id": "Boleh dicek lagi nomor {destination} ke penerimanya? Digit terakhirnya mungkin salah.",
    },
    "paid-expired": {
        "en": "The invoice for order {reference} had expired when you paid. We're checking whether the payment reached"
        " us. Please don't pay again.",
        "id": "Invoice untuk transaksi {reference} sudah kedaluwarsa saat kamu membayar. Kami sedang mengecek apakah"
        " pembayarannya masuk. Jangan bayar lagi.",
    },
    "done": {
        "en": "Your order {reference} is complete. Thank you for your patience. Reply here if you still need help.",
        "id": "Transaksi {reference} sudah selesai. Terima kasih atas kesabaranmu. Balas di sini kalau masih perlu"
        " bantuan.",
    },
}


def upgrade() -> None:
    """Add them where there are none: so nobody's own are touched, and those deleted later don't come back."""
    answers = sa.table(
        "saved_answers",
        sa.column("name", sa.Text),
        sa.column("texts", Json),
        sa.column("updated_at", Instant),
        sa.column("updated_by", sa.BigInteger),
    )
    if op.get_bind().execute(sa.select(sa.func.count()).select_from(answers)).scalar_one():
        return
    now = datetime.now(UTC)
    rows = [{"name": name, "texts": texts, "updated_at": now, "updated_by": NOBODY} for name, texts in REPLIES.items()]
    op.bulk_insert(answers, rows)
