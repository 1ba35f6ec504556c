"""From `/send` to a reviewed order: the conversation, orders in one line, and drafts."""
