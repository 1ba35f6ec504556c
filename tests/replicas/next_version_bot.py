"""The bot of a newer version: it has one more migration, in the folder that `NEXT_MIGRATIONS` names."""

import os
from pathlib import Path
from typing import Final

import bot.__main__
import bot.process
from bot.infra.db import migrate

FOLDER: Final = "NEXT_MIGRATIONS"


def main() -> None:
    """Run the bot."""
    vars(migrate)["MIGRATIONS"] = Path(os.environ[FOLDER])
    bot.__main__.main()
