"""The parts of a page about a case."""
