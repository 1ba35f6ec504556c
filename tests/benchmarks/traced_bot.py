"""The bot of any commit, with the functions that it calls: `python traced_bot.py run`.

It runs by its path, with the commit's folder in PYTHONPATH. So it imports nothing else of the benchmarks. SIGUSR1 lets
it write what it has called since the last time to the file in CALLS_FILE: JSON, a list of [file, first line].
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

FILE = "CALLS_FILE"
called: set[CodeType] = set()


def _note(frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        called.add(frame.f_code)


def _write_calls(package: Path, file: Path) -> None:
    """Write the called functions of the bot, and forget them. The sandbox isn't part of the bot."""
    seen = {(code.co_filename, code.co_firstlineno) for code in tuple(called) if not code.co_name.startswith("<")}
    called.clear()
    ours = [(name, line) for name, line in sorted(seen) if Path(name).is_relative_to(package) and "sandbox" not in name]
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(ours), encoding="utf-8")
    unfinished.replace(file)


if __name__ == "__main__":
    import bot
    from bot import __main__

    folder, target = Path(bot.__file__).parent, Path(os.environ[FILE])
    signal.signal(signal.SIGUSR1, lambda *_: _write_calls(folder, target))
    threading.setprofile(_note)
    sys.setprofile(_note)
    __main__.cli()
