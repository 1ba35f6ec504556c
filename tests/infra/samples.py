"""Values of the types that every package uses, for `every_screen.py`."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Final

from bot.core.csv import CsvFile
from bot.infra.i18n import LOCALES, Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from tests.screens import JAKARTA, NOW, Outside

SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    CsvFile: lambda _: (CsvFile(0, None), CsvFile(10**9, None)),
    Translator: lambda outside: (outside.t,),
    Reader: lambda outside: (outside.reader,),
    Html: lambda outside: (outside.html,),
    Button: lambda _: (Button("More", data="lang:en"),),
    Screen: lambda outside: (Screen(outside.html),),
    str: lambda outside: (outside.typed,),
    (str, "locale"): lambda _: LOCALES,
    bool: lambda _: (True, False),
    int: lambda _: (0, 1, 2, 99, 1_500, 10**12),
    bytes: lambda _: (b"PNG",),
    Decimal: lambda _: (Decimal(0), Decimal("16250.5"), Decimal(1_700_000_000)),
    datetime: lambda _: (NOW, NOW + timedelta(days=2)),
    (datetime, "now"): lambda _: (NOW,),
    timedelta: lambda _: (timedelta(minutes=5), timedelta(days=3)),
    tzinfo: lambda _: (JAKARTA,),
}
