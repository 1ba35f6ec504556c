"""Payment reminders: a message on a day of the week or of the month, from which a user can prepare an order again."""
