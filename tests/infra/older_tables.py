"""What makes a database one of an earlier revision, so that its migration can be tested."""

UNDO_0015 = ("DROP TABLE missed_orders", "ALTER TABLE people ADD COLUMN missed TEXT")
UNDO_0014 = ("ALTER TABLE orders DROP COLUMN payable_since", *UNDO_0015)
"""Each undoes its migration and those after it."""
