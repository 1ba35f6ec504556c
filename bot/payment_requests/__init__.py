"""Payment requests: who is to receive rupiah makes a link, and anyone pays it with Lightning."""
