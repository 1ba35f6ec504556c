"""All tables, and the saved replies that support begins with.

A migration is frozen: it names its own types, and never imports the tables, which go on changing.
"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

from bot.infra.db.columns import Instant, Json

revision = "0027"
down_revision = None
branch_labels = None
depends_on = None

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")

NOBODY = 0
"""Who wrote the first saved replies: none of the staff."""

REPLIES = {
    "payment-received": {
        "en": "We've received your payment for order {reference} and are working on it. You don't need to do anything."
        " Please don't pay again.",
        "id": "Pembayaran untuk transaksi {reference} sudah kami terima dan sedang kami proses. Kamu tidak perlu"
        " melakukan apa-apa. Jangan bayar lagi.",
    },
    "paid-out-late": {
        "en": "We've checked order {reference} with our payment partner: {amount} to {destination} was paid out after"
        " all. Please look at the recipient's account, and tell us here if it isn't there.",
        "id": "Transaksi {reference} sudah kami cek ke mitra pembayaran: {amount} ke {destination} akhirnya sudah"
        " terkirim. Coba minta penerima mengecek saldonya, dan kabari kami di sini kalau belum masuk.",
    },
    "refunded": {
        "en": "We've checked order {reference} with our payment partner: your payment was given back. Please look at"
        " your wallet, and tell us here if it isn't there.",
        "id": "Transaksi {reference} sudah kami cek ke mitra pembayaran: pembayaranmu sudah dikembalikan. Coba cek"
        " wallet-mu, dan kabari kami di sini kalau belum masuk.",
    },
    "not-refunded": {
        "en": "We've checked order {reference} with our payment partner: the rupiah weren't sent, and your payment"
        " isn't given back. We're sorry. You don't have to send anything. If you have questions, reply here.",
        "id": "Transaksi {reference} sudah kami cek ke mitra pembayaran: rupiahnya tidak terkirim, dan pembayaranmu"
        " tidak dikembalikan. Mohon maaf. Kamu tidak perlu mengirim apa pun. Kalau ada pertanyaan, balas di sini.",
    },
    "bank-delay": {
        "en": "We've sent the {amount} to {destination}. The bank or e-wallet may need more time to show it. Please"
        " don't send it again, and tell us here if it still isn't there tomorrow.",
        "id": "{amount} ke {destination} sudah kami kirim. Bank atau e-wallet mungkin perlu waktu sampai uangnya"
        " masuk. Jangan kirim lagi, dan kabari kami di sini kalau besok belum masuk juga.",
    },
    "failed-checking": {
        "en": "We're sorry. The payout for order {reference} failed after your payment. We've asked our payment"
        " partner and will write to you here as soon as we know more. Please don't pay again. You don't have to send or"
        " give us anything now.",
        "id": "Mohon maaf, pengiriman rupiah untuk transaksi {reference} gagal setelah kamu membayar. Kami sudah"
        " menanyakannya ke mitra pembayaran kami dan akan mengabarimu di sini. Jangan bayar lagi. Sekarang kamu tidak"
        " perlu mengirim atau memberikan apa pun.",
    },
    "taking-longer": {
        "en": "We've received your payment for order {reference}. The payout is taking longer than usual."
        " You don't need to do anything. Please don't pay again. We'll write to you here.",
        "id": "Pembayaran untuk transaksi {reference} sudah kami terima. Pengiriman rupiahnya lebih lama"
        " dari biasanya. Kamu tidak perlu melakukan apa-apa. Jangan bayar lagi. Kami akan mengabarimu"
        " di sini.",
    },
    "no-answer-yet": {
        "en": "Our payment partner hasn't answered about order {reference} yet. Please don't pay again."
        " We'll write to you here as soon as we know more.",
        "id": "Mitra pembayaran kami belum menjawab soal transaksi {reference}. Jangan bayar lagi. Begitu"
        " ada kabar, kami menulis di sini.",
    },
    "send-proof": {
        "en": "We're checking whether your payment for order {reference} reached us. Please don't pay"
        " again. Could you send us the preimage, or the transaction ID if you paid with cbBTC or BTCB?"
        " Your wallet shows it in the payment's details. Never send us seed words.",
        "id": "Kami sedang mengecek apakah pembayaran untuk transaksi {reference} masuk. Jangan bayar lagi."
        " Boleh kirim preimage-nya, atau TxID kalau kamu membayar dengan cbBTC atau BTCB? Wallet kamu"
        " menampilkannya di detail pembayaran. Jangan pernah kirim seed phrase.",
    },
    "leave-unpaid": {
        "en": "If you no longer want order {reference}, you don't have to do anything. It costs nothing and"
        " closes automatically. If you've already paid, please don't pay again, and tell us here.",
        "id": "Kalau transaksi {reference} tidak jadi, kamu tidak perlu melakukan apa-apa. Tidak ada biaya,"
        " dan transaksinya tertutup otomatis. Kalau sudah membayar, jangan bayar lagi dan kabari kami"
        " di sini.",
    },
    "nothing-to-pay": {
        "en": "You don't have to pay anything for order {reference}, and no money has moved. If your wallet"
        " shows something else, tell us here.",
        "id": "Kamu tidak perlu membayar apa pun untuk transaksi {reference}, dan tidak ada uang yang"
        " keluar. Kalau di wallet kamu terlihat lain, kabari kami di sini.",
    },
    "still-checking": {
        "en": "We're still checking whether order {reference} was created. You don't have to pay anything"
        " yet. Please don't start it again before the bot writes to you.",
        "id": "Kami masih mengecek apakah transaksi {reference} sudah dibuat. Kamu belum perlu membayar apa"
        " pun. Jangan membuatnya lagi sebelum ada kabar dari bot.",
    },
    "answer-the-bot": {
        "en": "The bot has asked you a question about order {reference}. Please answer it in this chat. You"
        " don't have to pay anything before that.",
        "id": "Bot bertanya soal transaksi {reference}. Jawab dulu di chat ini. Sebelum itu kamu tidak"
        " perlu membayar apa pun.",
    },
    "start-again": {
        "en": "Order {reference} has ended, and there's nothing to pay for it. You can start it again with"
        " /send. You see the new price before you confirm.",
        "id": "Transaksi {reference} sudah berakhir, dan tidak ada yang perlu dibayar. Kamu bisa membuatnya"
        " lagi lewat /send. Harga barunya terlihat sebelum kamu konfirmasi.",
    },
    "which-order": {
        "en": "Thanks for writing. Which order is it about? Its reference is in /orders. You don't need to"
        " send us account numbers.",
        "id": "Terima kasih sudah menulis. Ini soal transaksi yang mana? Referensinya ada di /orders. Nomor"
        " rekening tidak perlu dikirim ke sini.",
    },
    "type-again": {
        "en": "The bot couldn't use your last answer. Please answer its question again. You don't need to"
        " send account numbers to us.",
        "id": "Jawaban terakhirmu belum bisa dipakai bot. Jawab lagi pertanyaannya. Nomor rekening tidak"
        " perlu dikirim ke kami.",
    },
    "confirm-number": {
        "en": "Could you check the number for {destination} with the recipient? The last digits may be wrong.",
        "id": "Boleh dicek lagi nomor {destination} ke penerimanya? Angka terakhirnya mungkin salah.",
    },
    "paid-expired": {
        "en": "The invoice for order {reference} had expired when you paid. We're checking whether the payment reached"
        " us. Please don't pay again.",
        "id": "Invoice untuk transaksi {reference} sudah kedaluwarsa saat kamu membayar. Kami sedang mengecek apakah"
        " pembayarannya masuk. Jangan bayar lagi.",
    },
    "done": {
        "en": "We've sent the rupiah of your order {reference}. Thank you for your patience. Reply here if they haven't"
        " arrived, or if you still need help.",
        "id": "Rupiah untuk transaksi {reference} sudah kami kirim. Terima kasih atas kesabaranmu. Balas di sini kalau"
        " belum masuk atau masih perlu bantuan.",
    },
}


def upgrade() -> None:
    """Create all tables, and add the first saved replies."""
    _users()
    _inbox_and_outbox()
    _drafts()
    _orders()
    _order_history()
    _payment_requests()
    _recipients()
    _rates()
    _broadcasts()
    _staff()
    _tickets()
    _support()
    _processes()
    _first_saved_replies()


def _index(name: str, table: str, columns: list[str], where: str | None = None, *, unique: bool = False) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("language_code", sa.Text),
        sa.Column("locale", sa.Text),
        sa.Column("time_zone", sa.Text, nullable=False),
        sa.Column("blocked_at", INSTANT),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("phrase", sa.Text),
        sa.Column("suggested_phrase", sa.Text),
        sa.Column("notification_preferences", sa.Text),
        sa.Column("open_question", sa.Text),
        sa.Column("answered_update_id", sa.BigInteger),
        sa.Column("question_message_id", sa.BigInteger),
        sa.Column("question_can_go", sa.Boolean),
        sa.Column("answered_buttons", sa.Text),
        sa.Column("deletion_requested_at", INSTANT),
        sa.Column("last_seen_at", INSTANT),
        sa.Column("username", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
    )
    _index("ix_users_blocked_at", "users", ["blocked_at"], "blocked_at IS NOT NULL")
    _index("ix_users_created_at", "users", ["created_at"])
    _index("ix_users_deletion_requested_at", "users", ["deletion_requested_at"], "deletion_requested_at IS NOT NULL")
    _index("ix_users_username", "users", ["username"], "username IS NOT NULL")
    op.create_table(
        "user_events",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_user_events"),
    )
    _index("ix_user_events_at", "user_events", ["at"])
    _index("ix_user_events_user_id_at", "user_events", ["user_id", "at"])


def _inbox_and_outbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("chat_id", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("received_at", INSTANT, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("handled_by", sa.Text),
        sa.Column("finished_at", INSTANT),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_inbox"),
    )
    _index("ix_inbox_finished_at", "inbox", ["finished_at"], "finished_at IS NOT NULL")
    _index("ix_inbox_unfinished", "inbox", ["chat_id", "id"], "finished_at IS NULL")
    op.create_table(
        "outbox",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("chat_id", sa.BigInteger, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("mark", sa.Text, nullable=False),
        sa.Column("queue", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("maybe_sent", sa.Boolean, nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("sent_at", INSTANT),
        sa.Column("failure", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("subject", "kind", "mark", "chat_id", name="uq_outbox_subject_kind_mark_chat_id"),
        sqlite_autoincrement=True,
    )
    _index("ix_outbox_due", "outbox", ["queue", "due_at", "id"], "status IN ('waiting', 'sending')")
    _index("ix_outbox_given_up", "outbox", ["created_at"], "status = 'undeliverable'")
    _index("ix_outbox_last_messages", "outbox", ["id"], "kind = 'data_deleted'")
    _index("ix_outbox_sent_at", "outbox", ["sent_at"], "sent_at IS NOT NULL")
    _index("ix_outbox_unsent", "outbox", ["chat_id", "id"], "status IN ('waiting', 'sending')")


def _drafts() -> None:
    op.create_table(
        "drafts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("chat_id", sa.BigInteger, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("step", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("method", sa.Text),
        sa.Column("number", sa.Text),
        sa.Column("doubtful_number", sa.Text),
        sa.Column("holder", sa.Text),
        sa.Column("holder_asked", sa.Boolean, nullable=False),
        sa.Column("amount", sa.Text),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("quote", sa.Text),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("last_update_id", sa.BigInteger, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("terms", sa.Text),
        sa.Column("refusal", sa.Text),
        sa.Column("payout_seal", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_drafts"),
    )
    _index("ix_drafts_closed_expires_at", "drafts", ["expires_at"], "status != 'open'")
    _index("ix_drafts_open_expires_at", "drafts", ["expires_at"], "status = 'open'")
    _index("ix_drafts_user_id", "drafts", ["user_id"])
    _index("uq_drafts_open_chat", "drafts", ["chat_id"], "status = 'open'", unique=True)


def _orders() -> None:
    false, true = ("0", "1") if op.get_bind().dialect.name == "sqlite" else ("false", "true")
    op.create_table(
        "orders",
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("chat_id", sa.BigInteger, nullable=False),
        sa.Column("draft_id", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("method_code", sa.Text, nullable=False),
        sa.Column("number", sa.Text, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("requested_amount", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("expected_sats", sa.BigInteger, nullable=False),
        sa.Column("expected_idr", sa.BigInteger, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("service_id", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("step", sa.Integer, nullable=False),
        sa.Column("sats", sa.BigInteger),
        sa.Column("idr", sa.BigInteger),
        sa.Column("btc_idr", sa.Text),
        sa.Column("bolt11", sa.Text),
        sa.Column("deposit", sa.Text),
        sa.Column("payment_hash", sa.Text),
        sa.Column("expires_at", INSTANT),
        sa.Column("invoice_expires_at", INSTANT),
        sa.Column("paid_at", INSTANT),
        sa.Column("is_paid", sa.Boolean, nullable=False),
        sa.Column("ended_at", INSTANT),
        sa.Column("expiry_notified", sa.Boolean, nullable=False),
        sa.Column("refusal", sa.Text),
        sa.Column("last_polled_at", INSTANT),
        sa.Column("next_poll_at", INSTANT),
        sa.Column("page_token", sa.Text),
        sa.Column("overdue_notified_at", INSTANT),
        sa.Column("hold_reason", sa.Text),
        sa.Column("payable_since", INSTANT),
        sa.Column("posting_until", INSTANT),
        sa.Column("typed_amount", sa.Text),
        sa.Column("evidence", sa.Text),
        sa.Column("payer_hash", sa.Text),
        sa.Column("contact", sa.Text),
        sa.Column("answer", sa.Text),
        sa.Column("origin", sa.Text),
        sa.Column("outcome", sa.Text),
        sa.Column("payment_seal", sa.Text),
        sa.PrimaryKeyConstraint("reference", name="pk_orders"),
        sa.UniqueConstraint("draft_id", "attempt", name="uq_orders_draft_id_attempt"),
    )
    _index("ix_orders_created_at_reference", "orders", ["created_at", "reference"])
    may_be_deposited = f"channel != 'lightning' AND is_paid IS {false} AND ended_at IS NULL AND phase != 'refused'"
    _index(
        "ix_orders_deposit_expected_sats",
        "orders",
        ["channel", "expected_sats"],
        f"{may_be_deposited} AND sats IS NULL",
    )
    _index("ix_orders_deposit_sats", "orders", ["channel", "sats"], may_be_deposited)
    _index("ix_orders_due", "orders", ["is_paid", "next_poll_at"], "next_poll_at IS NOT NULL")
    _index(
        "ix_orders_expiring",
        "orders",
        ["phase", "expires_at"],
        f"phase = 'open' AND expiry_notified IS {false} AND is_paid IS {false}",
    )
    _index("ix_orders_from_links_created_at", "orders", ["created_at", "origin"], "origin IS NOT NULL")
    _index("ix_orders_method_code_created_at", "orders", ["method_code", "created_at", "reference"])
    _index(
        "ix_orders_overdue",
        "orders",
        ["phase", "paid_at"],
        f"phase = 'open' AND is_paid IS {true} AND overdue_notified_at IS NULL",
    )
    _index("ix_orders_origin_created_at", "orders", ["origin", "created_at"], "origin IS NOT NULL")
    _index("ix_orders_paid_at", "orders", ["paid_at", "reference"], "paid_at IS NOT NULL")
    _index("ix_orders_payer_hash_created_at", "orders", ["payer_hash", "created_at"], "payer_hash IS NOT NULL")
    _index("ix_orders_phase_created_at", "orders", ["phase", "created_at"])
    _index("ix_orders_unclaimed", "orders", ["method_code", "created_at", "reference"], "service_id IS NULL")
    _index("ix_orders_user_id_created_at", "orders", ["user_id", "created_at"])
    _index("ix_orders_with_recipient", "orders", ["phase", "created_at"], "number != ''")
    _index("uq_orders_page_token", "orders", ["page_token"], "page_token IS NOT NULL", unique=True)
    _index("uq_orders_payment_hash", "orders", ["payment_hash"], "payment_hash IS NOT NULL", unique=True)
    _index("uq_orders_service_id", "orders", ["service_id"], "service_id IS NOT NULL", unique=True)


def _order_history() -> None:
    op.create_table(
        "order_events",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("service_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_order_events"),
        sa.ForeignKeyConstraint(
            ["reference"], ["orders.reference"], name="fk_order_events_reference", ondelete="CASCADE"
        ),
    )
    _index("ix_order_events_reference_id", "order_events", ["reference", "id"])
    op.create_table(
        "receipts",
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("code_hash", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("reference", name="pk_receipts"),
        sa.UniqueConstraint("code_hash", name="uq_receipts_code_hash"),
        sa.ForeignKeyConstraint(["reference"], ["orders.reference"], name="fk_receipts_reference", ondelete="CASCADE"),
    )
    op.create_table(
        "missed_orders",
        sa.Column("user_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "reference", name="pk_missed_orders"),
    )
    _index("ix_missed_orders_at", "missed_orders", ["at"])
    op.create_table(
        "wrong_codes",
        sa.Column("user_id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("full_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_wrong_codes"),
    )
    _index("ix_wrong_codes_full_at", "wrong_codes", ["full_at"])


def _payment_requests() -> None:
    op.create_table(
        "payment_requests",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("token_hash", sa.Text, nullable=False),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("number", sa.Text, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("idr", sa.BigInteger),
        sa.Column("note", sa.Text),
        sa.Column("is_reusable", sa.Boolean, nullable=False),
        sa.Column("ends_at", INSTANT),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("closed_by", sa.Text),
        sa.Column("in_browsers", sa.Boolean, nullable=False),
        sa.Column("draft_id", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("used_at", INSTANT, nullable=False),
        sa.Column("shared", sa.Text),
        sa.Column("payout_seal", sa.Text),
        sa.Column("terms_seal", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_payment_requests"),
    )
    _index("ix_payment_requests_shared", "payment_requests", ["ends_at"], "shared IS NOT NULL")
    _index("ix_payment_requests_used_at", "payment_requests", ["used_at"])
    _index("ix_payment_requests_user_id_created_at", "payment_requests", ["user_id", "created_at"])
    _index("uq_payment_requests_draft_id", "payment_requests", ["draft_id"], unique=True)
    _index("uq_payment_requests_token_hash", "payment_requests", ["token_hash"], unique=True)
    op.create_table(
        "payment_request_reports",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("payer_hash", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("is_seen", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_payment_request_reports"),
        sa.ForeignKeyConstraint(
            ["request_id"], ["payment_requests.id"], name="fk_payment_request_reports_request_id", ondelete="CASCADE"
        ),
    )
    reports = "payment_request_reports"
    _index("ix_payment_request_reports_at", reports, ["at"])
    _index("ix_payment_request_reports_user_id", reports, ["user_id"])
    _index("uq_payment_request_reports_payer", reports, ["request_id", "user_id", "payer_hash"], unique=True)


def _recipients() -> None:
    op.create_table(
        "recipients",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("number", sa.Text, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("label", sa.Text),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("last_used_at", INSTANT, nullable=False),
        sa.Column("payout_seal", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_recipients"),
    )
    _index("ix_recipients_last_used_at", "recipients", ["last_used_at"])
    _index("ix_recipients_user_id_last_used_at", "recipients", ["user_id", "last_used_at"])
    op.create_table(
        "payment_reminders",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("recipient_id", sa.Text, nullable=False),
        sa.Column("idr", sa.BigInteger, nullable=False),
        sa.Column("day", sa.Text, nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("unanswered", sa.Integer, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_payment_reminders"),
        sa.ForeignKeyConstraint(
            ["recipient_id"], ["recipients.id"], name="fk_payment_reminders_recipient_id", ondelete="CASCADE"
        ),
    )
    for column in ("due_at", "recipient_id", "user_id"):
        _index(f"ix_payment_reminders_{column}", "payment_reminders", [column])


def _rates() -> None:
    op.create_table(
        "quotes",
        sa.Column("fetched_at", INSTANT, nullable=False),
        sa.Column("btc_idr", sa.Text, nullable=False),
        sa.Column("usdc_idr", sa.Text),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("fetched_at", name="pk_quotes"),
    )
    op.create_table(
        "subscriptions",
        sa.Column("user_id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("subscribed_at", INSTANT, nullable=False),
        sa.Column("daily_minute", sa.Integer),
        sa.Column("next_daily_at", INSTANT),
        sa.Column("quiet_from", sa.Integer),
        sa.Column("quiet_until", sa.Integer),
        sa.PrimaryKeyConstraint("user_id", name="pk_subscriptions"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_subscriptions_user_id", ondelete="CASCADE"),
    )
    _index("ix_subscriptions_next_daily_at", "subscriptions", ["next_daily_at"], "next_daily_at IS NOT NULL")
    op.create_table(
        "rate_alerts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("user_id", BIG_ID, nullable=False),
        sa.Column("is_above", sa.Boolean, nullable=False),
        sa.Column("threshold", sa.Text, nullable=False),
        sa.Column("cooldown_seconds", sa.Integer),
        sa.Column("cooldown_until", INSTANT),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_rate_alerts"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_rate_alerts_user_id", ondelete="CASCADE"),
    )
    _index("ix_rate_alerts_expires_at", "rate_alerts", ["expires_at"])
    _index("ix_rate_alerts_user_id", "rate_alerts", ["user_id"])


def _broadcasts() -> None:
    op.create_table(
        "broadcasts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("operator_id", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("is_rate", sa.Boolean, nullable=False),
        sa.Column("texts", sa.Text, nullable=False),
        sa.Column("picture", sa.Text),
        sa.Column("audience", sa.Text, nullable=False),
        sa.Column("quote", sa.Text),
        sa.Column("starts_at", INSTANT),
        sa.Column("daily_minute", sa.Integer),
        sa.Column("series", sa.Text),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("confirmed_at", INSTANT),
        sa.Column("confirmed_by", sa.BigInteger),
        sa.Column("started_at", INSTANT),
        sa.Column("ended_at", INSTANT),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("next_reader", sa.BigInteger),
        sa.Column("chat_id", sa.BigInteger),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("report", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_broadcasts"),
    )
    _index("ix_broadcasts_created_at", "broadcasts", ["created_at"])
    _index("ix_broadcasts_drafts", "broadcasts", ["operator_id", "created_at"], "status = 'draft'")
    _index(
        "ix_broadcasts_open",
        "broadcasts",
        ["starts_at"],
        "ended_at IS NULL AND status IN ('scheduled', 'running', 'paused', 'stopped')",
    )


def _staff() -> None:
    op.create_table(
        "alarms",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("raised_at", INSTANT, nullable=False),
        sa.Column("joined_until", INSTANT),
        sa.Column("reminded_at", INSTANT),
        sa.Column("cleared_at", INSTANT),
        sa.Column("taken_by", sa.BigInteger),
        sa.Column("taken_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_alarms"),
    )
    _index("ix_alarms_raised_at", "alarms", ["raised_at"])
    _index("uq_alarms_raised", "alarms", ["kind", "subject"], "cleared_at IS NULL", unique=True)
    op.create_table(
        "audit",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("actor_id", sa.BigInteger, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    _index("ix_audit_actor_id_id", "audit", ["actor_id", "id"])
    _index("ix_audit_user_id", "audit", ["user_id"])
    op.create_table(
        "groups",
        sa.Column("chat_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("locale", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("chat_id", name="pk_groups"),
    )
    op.create_table(
        "reconciliations",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("asked_at", INSTANT, nullable=False),
        sa.Column("listed", sa.Integer, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("shown_since", INSTANT),
        sa.Column("shown_until", INSTANT),
        sa.Column("next_at", INSTANT, nullable=False),
        sa.Column("differences", sa.Text, nullable=False),
        sa.Column("pending", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_reconciliations"),
    )
    _index("ix_reconciliations_asked_at", "reconciliations", ["asked_at"])
    op.create_table(
        "reconciled_spans",
        sa.Column("since", INSTANT, nullable=False),
        sa.Column("until", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("since", name="pk_reconciled_spans"),
    )


def _tickets() -> None:
    op.create_table(
        "tickets",
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("order_reference", sa.Text, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("claimed_by", sa.BigInteger),
        sa.Column("claimed_at", INSTANT),
        sa.Column("waiting_since", INSTANT),
        sa.Column("reminded_at", INSTANT),
        sa.Column("escalated_at", INSTANT),
        sa.Column("paused_until", INSTANT),
        sa.Column("paused_status", sa.Text),
        sa.Column("first_reply_at", INSTANT),
        sa.Column("closed_at", INSTANT),
        sa.Column("closed_by", sa.BigInteger),
        sa.Column("close_reason", sa.Text),
        sa.Column("reopen_count", sa.Integer, nullable=False),
        sa.Column("rating", sa.Text),
        sa.Column("rated_at", INSTANT),
        sa.Column("has_payee", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("reference", name="pk_tickets"),
    )
    _index("ix_tickets_closed_at", "tickets", ["closed_at"])
    _index("ix_tickets_created_at", "tickets", ["created_at"])
    _index("ix_tickets_open_created_at", "tickets", ["created_at"], "status = 'open'")
    _index("ix_tickets_order_reference", "tickets", ["order_reference"])
    _index("ix_tickets_user_id_created_at", "tickets", ["user_id", "created_at"])
    _index("ix_tickets_paused_until", "tickets", ["paused_until"], "paused_until IS NOT NULL")
    _index("ix_tickets_waiting_since", "tickets", ["waiting_since"], "waiting_since IS NOT NULL")
    _index("uq_tickets_open", "tickets", ["user_id", "order_reference"], "status = 'open'", unique=True)
    op.create_table(
        "ticket_entries",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("ticket", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("author_id", sa.BigInteger, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("media", sa.Text),
        sa.Column("file_id", sa.Text),
        sa.Column("source_chat_id", sa.BigInteger, nullable=False),
        sa.Column("source_message_id", sa.BigInteger, nullable=False),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("delivered_at", INSTANT),
        sa.Column("failure", sa.Text),
        sa.Column("edited_at", INSTANT),
        sa.Column("withdrawn_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_ticket_entries"),
        sa.UniqueConstraint("ticket", "number", name="uq_ticket_entries_ticket_number"),
        sa.UniqueConstraint(
            "source_chat_id", "source_message_id", name="uq_ticket_entries_source_chat_id_source_message_id"
        ),
        sa.ForeignKeyConstraint(["ticket"], ["tickets.reference"], name="fk_ticket_entries_ticket", ondelete="CASCADE"),
    )
    op.create_table(
        "ticket_posts",
        sa.Column("chat_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("message_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("ticket", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("topic_id", sa.BigInteger),
        sa.Column("entry", sa.Integer, nullable=False),
        sa.Column("argument", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("chat_id", "message_id", name="pk_ticket_posts"),
        sa.ForeignKeyConstraint(["ticket"], ["tickets.reference"], name="fk_ticket_posts_ticket", ondelete="CASCADE"),
    )
    _index("ix_ticket_posts_chat_id_topic_id", "ticket_posts", ["chat_id", "topic_id"])
    _index("ix_ticket_posts_ticket_entry", "ticket_posts", ["ticket", "entry", "chat_id", "message_id"])
    op.create_table(
        "moved_chats",
        sa.Column("old_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("new_id", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("old_id", name="pk_moved_chats"),
    )


def _support() -> None:
    op.create_table(
        "reveals",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("staff_id", sa.BigInteger, nullable=False),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("until", INSTANT, nullable=False),
        sa.Column("masked_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_reveals"),
    )
    _index("ix_reveals_until", "reveals", ["until"], "masked_at IS NULL")
    op.create_table(
        "saved_replies",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("texts", sa.Text, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("updated_by", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_saved_replies"),
    )


def _processes() -> None:
    op.create_table(
        "sealing_keys",
        sa.Column("name", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_sealing_keys"),
    )
    op.create_table(
        "processes",
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("revision", sa.Text, nullable=False),
        sa.Column("key_names", sa.Text, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("owner", name="pk_processes"),
    )
    op.create_table(
        "chat_leases",
        sa.Column("chat_id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("chat_id", name="pk_chat_leases"),
    )


def _first_saved_replies() -> None:
    """Add them once: those that support deletes later don't come back."""
    replies = sa.table(
        "saved_replies",
        sa.column("name", sa.Text),
        sa.column("texts", Json),
        sa.column("updated_at", Instant),
        sa.column("updated_by", sa.BigInteger),
    )
    now = datetime.now(UTC)
    rows = [{"name": name, "texts": texts, "updated_at": now, "updated_by": NOBODY} for name, texts in REPLIES.items()]
    op.bulk_insert(replies, rows)
