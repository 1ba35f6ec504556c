"""One file a screen: what it shows (`screen`, pure), how it comes about (`show`), what an answer does (`answer`)."""
