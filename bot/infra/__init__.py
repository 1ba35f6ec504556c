"""What any bot needs and no rupiah: database, Telegram, outbox, texts, drawing, HTTP and logs."""
