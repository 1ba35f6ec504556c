"""From a user's wish to a reviewed order: the conversation, one line, and drafts."""
