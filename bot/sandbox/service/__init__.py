"""The sandbox's settlement service, one topic per module.

`settlement.py` beside this package builds the app and serves it. Nothing here imports the bot's client, so that an
error of the client can't be hidden by the same error here.
"""
