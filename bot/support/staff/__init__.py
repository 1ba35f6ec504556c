"""Support's side of the chat: tickets in the staff's room, looking up, revealing, and the audit trail."""
