"""Where an unexpected error came from, for a log: never its text, which may quote what a person wrote."""

import traceback
from pathlib import Path


def where(error: BaseException) -> str:
    """File and line of the innermost frame, such as "card.py:42"; empty for an error that was never raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
