// Actions on one message: reply, forward, and for the user's own messages edit and delete.

import { choose } from "./dialogs.js";
import { el, iconButton } from "./dom.js";

// view: as in message.js; actions: { onReply, onForward, onEdit, onDelete }, each called with the message.
export function actsOn(message, view, isOwn) {
  const { actions, words } = view;
  return el("div", { class: "acts" },
    // With the keyboard, the other button offers it, too. So each message has one Tab stop less.
    iconButton("reply", words.reply, { class: "act", "data-testid": "act-reply", tabindex: "-1", onclick: () => actions.onReply(message) }),
    iconButton("more", words.more, { class: "act", "data-testid": "act-more", onclick: () => further(message, view, isOwn) }));
}

async function further(message, { actions, words }, isOwn) {
  const choices = [{ name: "reply", label: words.reply, act: actions.onReply }, { name: "forward", label: words.forward, act: actions.onForward }];
  if (isOwn && !message.forward_origin) choices.push({ name: "edit", label: words.edit, act: actions.onEdit });
  if (isOwn) choices.push({ name: "delete", label: words.remove, act: actions.onDelete });
  const chosen = await choose(words.message, choices, words.cancel);
  chosen?.act(message);
}

// The first author of a forwarded message: a user, or only a name if the user hides.
export function forwardedFrom(message, words) {
  const origin = message.forward_origin;
  if (!origin) return null;
  const user = origin.sender_user;
  const name = user ? [user.first_name, user.last_name].filter(Boolean).join(" ") : origin.sender_user_name;
  return el("div", { class: "forwarded", "data-testid": "forwarded" }, `${words.forwarded} `, el("strong", {}, name));
}

export function reactions(message) {
  const given = message.sandbox?.reactions ?? [];
  return given.length ? el("div", { class: "reactions", "data-testid": "reactions" }, given.map((emoji) => el("span", { class: "reaction" }, emoji))) : null;
}
