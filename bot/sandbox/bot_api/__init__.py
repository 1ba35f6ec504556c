"""The parts of the sandbox's Bot API server. `bot.sandbox.telegram` puts them together.

`endpoint` reads a call (`calls`), applies `faults` and `limits` and runs one of the `methods`. These change the `world`
(users, chats, messages, files) through `chats`. It also notifies the users (`box`) and the bot (`updates`, `webhook`).
`journal` saves the state between starts. `people` is the other side: what a user does and sees, over `people_api`.
"""
