"""Where an unexpected error was raised, for the log. Its text is left out: it can quote what a user wrote."""

import traceback
from pathlib import Path


def where(error: BaseException) -> str:
    """Return file and line of the innermost frame, such as "card.py:42". Empty for an error that was never raised."""
    return next(iter(frames(error, 1)), "")


def frames(error: BaseException, most: int) -> list[str]:
    """Return file and line of up to `most` frames, the innermost last."""
    found = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno}" for frame in found[-most:]]
