#!/bin/sh
# Starts Alertmanager. The token and the chat's id are in files, because a command line can be read by others.
set -eu
if [ -z "$ALERT_BOT_TOKEN" ] || [ -z "$ALERT_CHAT_ID" ]; then
  echo "Set ALERT_BOT_TOKEN and ALERT_CHAT_ID in .env" >&2
  exit 1
fi
umask 077
printf %s "$ALERT_BOT_TOKEN" > /tmp/alert_bot_token
printf %s "$ALERT_CHAT_ID" > /tmp/alert_chat_id
unset ALERT_BOT_TOKEN ALERT_CHAT_ID
# Without the port for a second Alertmanager.
exec alertmanager --config.file=/etc/alertmanager/alertmanager.yaml --storage.path=/alertmanager --cluster.listen-address=
