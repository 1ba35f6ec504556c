"""What is about several features, and so calls them: the start, help, the settings, buttons under orders, menus."""
