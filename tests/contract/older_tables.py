"""What makes a database one of an earlier revision, so that its migration can be tested."""

UNDO_0014 = ("ALTER TABLE orders DROP COLUMN payable_since",)
