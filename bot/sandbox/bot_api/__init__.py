"""The sandbox's Bot API server, in parts; `bot.sandbox.telegram` puts them together.

How an answer comes about: `endpoint` reads a call (`forms`, `params`), lets `faults` and `limits` have their
say and runs one of the `methods_*`. These work on the `world` (people, chats, messages, files) through
`posting`, which also tells the people (`events`) and the bot (`updates`, `webhook`). `journal` keeps it all
between starts. `people_api` is the other side: what a human does and sees.
"""
