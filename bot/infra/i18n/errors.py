"""Faults of ours, not of a user's: a sentence that isn't there, or can't be filled."""


class TranslationError(LookupError):
    """A sentence can't be rendered; the message names the key, never an argument's value."""


class UnknownKey(TranslationError):
    """No catalogue has the key."""


class MissingArgument(TranslationError):
    """The sentence has a placeholder for which nothing was given."""
