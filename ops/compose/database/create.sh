#!/bin/sh
# PostgreSQL's image runs this once, when it makes the database. The bot isn't the superuser: it owns its database and
# nothing else. The superuser has no password afterwards, so nobody reaches it over the network.
set -eu
psql --quiet --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE kirim LOGIN PASSWORD :'password';
CREATE DATABASE kirim OWNER kirim;
REVOKE ALL ON DATABASE kirim FROM PUBLIC;
ALTER ROLE CURRENT_USER PASSWORD NULL;
SQL
