"""What each tool for AI agents does."""
