"""SQLAlchemy Core on SQLite or PostgreSQL: connections, encryption, migrations and the leader."""
