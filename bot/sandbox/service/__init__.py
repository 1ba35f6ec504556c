"""The sandbox's settlement service, one meaning a module.

`settlement.py` beside this package is the door: it puts the parts together and serves them. Nothing here imports the
bot's client, so that a mistake there cannot hide behind the same mistake here.
"""
