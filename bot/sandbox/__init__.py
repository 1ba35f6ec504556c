"""A sandbox: the other side of the wire, for a machine without any account. It shares only the invoices."""
