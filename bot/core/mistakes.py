"""Where an unexpected error came from, for a log: never its text, which may quote what a person wrote."""

import traceback
from pathlib import Path


def where(error: BaseException) -> str:
    """File and line of the innermost frame, such as "card.py:42"; empty for an error that was never raised."""
    return next(iter(frames(error, 1)), "")


def frames(error: BaseException, most: int) -> list[str]:
    """File and line of the innermost frames, `most` at the most, the innermost last."""
    found = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno}" for frame in found[-most:]]
