"""The history of the tables, which the program applies by itself (`bot/infra/db/migrate.py`)."""
