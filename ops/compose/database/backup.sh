#!/bin/sh
# Dumps the database into BACKUP_FOLDER: at the start, then every BACKUP_HOURS. Deletes dumps older than BACKUP_DAYS.
#   backup.sh once    makes one dump and ends
set -eu
folder=$BACKUP_FOLDER
umask 077

dump() {
  # The name is final only when the dump is whole.
  file=$folder/kirim-$(date -u +%Y%m%dT%H%M%SZ).dump
  if pg_dump --format custom --file "$file.part"; then
    mv "$file.part" "$file"
    echo "saved $file"
  else
    rm -f "$file.part"
    return 1
  fi
}

clean() {
  find "$folder" -name 'kirim-*.dump*' -mmin "+$((${BACKUP_DAYS:-14} * 1440))" -delete
}

if [ "${1:-}" = once ]; then
  dump
  exit
fi
pause=
trap 'test -z "$pause" || kill "$pause"; exit 0' TERM INT
while :; do
  # Old dumps are deleted only after a new one. After a failure, such as a database that restarts, it tries again soon.
  if dump; then clean; seconds=$((${BACKUP_HOURS:-24} * 3600)); else seconds=300; fi
  sleep "$seconds" &
  pause=$!
  wait "$pause"
done
