"""Where an unexpected error was raised, for the log. Its text is left out: it can quote what a user wrote."""

import traceback
from pathlib import Path


def find_location(error: BaseException) -> str:
    """Return file and line of the innermost frame, such as "card.py:42". Empty for an error that was never raised."""
    return next(iter(list_frames(error, 1)), "")


def list_frames(error: BaseException, limit: int) -> list[str]:
    """Return file and line of up to `limit` frames, the innermost last."""
    found = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno}" for frame in found[-limit:]]
