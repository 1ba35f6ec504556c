// Which of the bot's command lists a user sees: the narrowest scope and the best language win, as in Telegram.

// commands: { "<scope>/<language>": [{ command, description }] }, see the sandbox's Bot API server.
export function commandsFor(commands, person, chat) {
  for (const scope of scopes(person, chat)) {
    for (const language of [person.language_code?.slice(0, 2), ""]) {
      const list = commands?.[`${scope}/${language}`];
      if (list) return list;
    }
  }
  return [];
}

function scopes(person, chat) {
  if (chat.type === "private") return [`chat:${chat.id}`, "all_private_chats", "default"];
  return [`chat_member:${chat.id}:${person.id}`, `chat_administrators:${chat.id}`, `chat:${chat.id}`, "all_chat_administrators", "all_group_chats", "default"];
}
