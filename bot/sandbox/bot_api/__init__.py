"""The parts of the sandbox's Bot API server. `bot.sandbox.telegram` puts them together.

`endpoint` reads a call (`forms`, `params`), applies `faults` and `limits` and runs a method of `methods`. Methods
change the `world` (users, chats, messages, files) through `chat_messages`. It also notifies the users (`events`) and
the bot (`updates`, `webhook`). `journal` saves the state between starts. `people_api` is the other side: what a user
does and sees.
"""
