"""Kirim for AI agents: the agent tool server (Model Context Protocol), a second front door to the same service."""
