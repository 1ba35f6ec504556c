"""The history of the tables, which the program applies by itself (`bot/store/migrate.py`)."""
