"""Kirim for AI agents: the MCP server (Model Context Protocol), a second way to use the same settlement service."""
