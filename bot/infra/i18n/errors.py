"""Errors of translation. They are bugs: a sentence is missing, or an argument of it."""


class TranslationError(LookupError):
    """A sentence can't be rendered. The message names the key, never the value of an argument."""


class UnknownKey(TranslationError):
    """No catalogue has the key."""


class MissingArgument(TranslationError):
    """The sentence has a placeholder without an argument."""
