// One message in a chat: bubble, picture or file, quoted reply, time and buttons.

import { telegram } from "./api.js";
import { choose, showPicture } from "./dialogs.js";
import { button, clock, el, grouped, icon, iconButton } from "./dom.js";
import { renderText } from "./entities.js";

const NAME_COLOURS = 6;

// view: { viewerId, isGroup, words, actions: { onCommand, onCopied, onButton, onReply, onForward, onEdit, onDelete } }
export function renderMessage(message, view) {
  const service = serviceText(message, view.words);
  if (service) return el("div", { class: "service-note", tabindex: "-1", ...identity(message) }, service);
  const outgoing = message.from?.id === view.viewerId;
  const body = el("div", { class: "message-body" }, bubble(message, view, outgoing));
  const rows = message.reply_markup?.inline_keyboard;
  if (rows) body.append(inlineKeyboard(rows, (button, node) => view.actions.onButton(message, button, node), view.actions.isOwnLink));
  return el("article", {
    class: ["message", outgoing ? "outgoing" : "incoming", rows && "with-keyboard", message.photo && "with-picture"].filter(Boolean).join(" "),
    "aria-label": `${senderName(message)}, ${clock(message.date)}`,
    tabindex: "-1",
    ...identity(message),
  }, body, actsOn(message, view, outgoing));
}

function identity(message) {
  return { "data-testid": "message", "data-message-id": message.message_id, "data-from": message.from?.id };
}

export function senderName(message) {
  const sender = message.from ?? message.sender_chat ?? {};
  return [sender.first_name ?? sender.title, sender.last_name].filter(Boolean).join(" ") || "Unknown";
}

export function plainText(message) {
  return message.text ?? message.caption ?? "";
}

function bubble(message, view, outgoing) {
  const { isGroup, words } = view;
  const { from, via_bot: via, document: sent, contact, reply_to_message: original } = message;
  const text = plainText(message);
  const image = message.photo && picture(message, view);
  const meta = metaLine(message, view, outgoing);
  if (!text) meta.classList.add("over");
  return el("div", { class: isLargeEmoji(message) ? "bubble large-emoji" : "bubble" },
    isGroup && !outgoing && el("div", { class: "sender", "--n": Math.abs(from?.id ?? 0) % NAME_COLOURS }, senderName(message)),
    forwardedFrom(message, words),
    via && el("div", { class: "forwarded", "data-testid": "via-bot" }, `${words.via} `, el("strong", {}, `@${via.username}`)),
    original && !original.forum_topic_created && quoted(message, view),
    !message.show_caption_above_media && image,
    sent && file(sent, words),
    contact && el("p", {}, `👤 ${contact.first_name} ${contact.phone_number}`),
    !image && !sent && !contact && message.text === undefined && el("em", { class: "unknown" }, words.unknownKind),
    text ? el("div", { class: "text", dir: "auto" }, renderText(text, message.entities ?? message.caption_entities, view), meta) : meta,
    message.show_caption_above_media && image,
    reactions(message));
}

function isLargeEmoji(message) {
  return Boolean(message.text) && !message.entities?.length && /^(\p{Extended_Pictographic}\uFE0F?){1,3}$/u.test(message.text);
}

function metaLine(message, view, outgoing) {
  const silent = message.sandbox?.silent;
  return el("span", { class: "meta" },
    silent && el("span", { class: "sound", title: view.words.silent, role: "img", "aria-label": view.words.silent }, icon("silent")),
    message.edit_date && el("span", { class: "edited" }, view.words.edited),
    el("time", { datetime: new Date(message.date * 1000).toISOString() }, clock(message.date)),
    outgoing && icon("checks"));
}

function quoted(message, view) {
  const original = message.reply_to_message;
  const words = message.quote?.text ?? plainText(original) ?? "";
  const go = () => document.querySelector(`[data-chat="${message.chat.id}"] [data-message-id="${original.message_id}"]`)?.scrollIntoView({ block: "center" });
  return el("button", { type: "button", class: "quoted", onclick: go },
    el("span", { class: "quoted-name" }, senderName(original)),
    el("span", { class: "quoted-text" }, words || view.words.hidden));
}

function picture(message, view) {
  const largest = message.photo.at(-1);
  const caption = plainText(message).split("\n")[0];
  const source = telegram.fileUrl(largest.file_id);
  const image = el("img", {
    src: source, width: largest.width, height: largest.height, decoding: "async",
    alt: caption ? `${view.words.hidden}: ${caption}` : view.words.hidden, "data-testid": "photo",
  });
  return el("button", { type: "button", class: "picture", "aria-label": `${view.words.enlarge}. ${image.alt}`, onclick: () => showPicture(source, image.alt) }, image);
}

function file(document_, words) {
  const size = document_.file_size ? `${grouped(Math.max(1, Math.round(document_.file_size / 1024)), words.locale)} KB` : "";
  const name = document_.file_name ?? "file";
  return el("a", { class: "file", href: telegram.fileUrl(document_.file_id), download: name },
    el("span", { class: "file-icon" }, icon("file")),
    el("span", { class: "file-words" }, el("span", { class: "file-name" }, name), el("span", { class: "file-size" }, size)));
}

function serviceText(message, words) {
  const { forum_topic_created: opened, forum_topic_edited: renamed, pinned_message: pinned } = message;
  if (opened) return words.topicOpened(senderName(message), opened.name);
  if (renamed) return words.topicRenamed(renamed.name ?? "…");
  if (message.forum_topic_closed) return words.topicClosed(senderName(message));
  if (message.forum_topic_reopened) return words.topicReopened(senderName(message));
  if (pinned) return words.pinned(senderName(message), plainText(pinned).slice(0, 60));
  if (message.new_chat_members) return words.joined(message.new_chat_members.map((member) => member.first_name).join(", "));
  return message.left_chat_member ? words.left(message.left_chat_member.first_name) : null;
}

// Reply and more: what can be done with a message.
function actsOn(message, view, isOwn) {
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
function forwardedFrom(message, words) {
  const origin = message.forward_origin;
  if (!origin) return null;
  const user = origin.sender_user;
  const name = user ? [user.first_name, user.last_name].filter(Boolean).join(" ") : origin.sender_user_name;
  return el("div", { class: "forwarded", "data-testid": "forwarded" }, `${words.forwarded} `, el("strong", {}, name));
}

function reactions(message) {
  const given = message.sandbox?.reactions ?? [];
  return given.length ? el("div", { class: "reactions", "data-testid": "reactions" }, given.map((emoji) => el("span", { class: "reaction" }, emoji))) : null;
}

const STYLES = new Set(["danger", "success", "primary"]);

// onPress(button, node) for callback, copy and share buttons, and for links that isOwn says lead to the bot. Others open
// by themselves.
export function inlineKeyboard(rows, onPress, isOwn) {
  const line = (row) => el("div", { class: "keyboard-row" }, row.map((one) => inlineButton(one, onPress, isOwn)));
  return el("div", { class: "inline-keyboard" }, rows.map(line));
}

function inlineButton(one, onPress, isOwn) {
  const { url, style } = one;
  const corner = url ? "link" : one.copy_text ? "copy" : one.switch_inline_query !== undefined && "send";
  const inside = [el("span", { class: "label", dir: "auto" }, one.text), corner && icon(corner, "corner")];
  const properties = { class: `inline-button ${STYLES.has(style) ? `style-${style}` : ""}`.trim(), "data-testid": "inline-button", "data-data": one.callback_data };
  if (/^https?:/i.test(url ?? "") && !isOwn(url)) return el("a", { ...properties, href: url, target: "_blank", rel: "noopener noreferrer", title: url }, inside);
  const node = button("", { ...properties, onclick: () => onPress(one, node) }, inside);
  return node;
}
