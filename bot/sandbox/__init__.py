"""The sandbox: the settlement service and Telegram for development without any account. It shares only the invoices."""
