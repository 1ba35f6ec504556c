"""Texts, entities and keyboards as Telegram reads them."""
