"""Pure, synchronous helpers that depend on no driver, such as money, times, zones and text."""
