// One message in a chat: bubble, picture or file, quoted reply, time and buttons.

import { telegram } from "./api.js";
import { actsOn, forwardedFrom, reactions } from "./acts.js";
import { clock, el, grouped, icon } from "./dom.js";
import { renderText } from "./entities.js";
import { inlineKeyboard } from "./keyboards.js";
import { showPicture } from "./dialogs.js";

const NAME_COLOURS = 6;

// view: { viewerId, isGroup, words, actions: { onCommand, onCopied, onButton } and those of acts.js }
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
  const node = el("div", { class: "bubble" });
  if (view.isGroup && !outgoing) node.append(el("div", { class: `sender sender-${Math.abs(message.from?.id ?? 0) % NAME_COLOURS}` }, senderName(message)));
  const forwarded = forwardedFrom(message, view.words);
  if (forwarded) node.append(forwarded);
  if (message.via_bot) node.append(el("div", { class: "forwarded", "data-testid": "via-bot" }, `${view.words.via} `, el("strong", {}, `@${message.via_bot.username}`)));
  if (message.reply_to_message && !message.reply_to_message.forum_topic_created) node.append(quoted(message, view));
  const image = message.photo && picture(message, view);
  if (image && !message.show_caption_above_media) node.append(image);
  if (message.document) node.append(file(message.document, view.words));
  if (message.contact) node.append(el("p", {}, `👤 ${message.contact.first_name} ${message.contact.phone_number}`));
  if (!message.photo && !message.document && !message.contact && message.text === undefined) node.append(el("em", { class: "unknown" }, view.words.unknownKind));
  const text = plainText(message);
  const meta = metaLine(message, view, outgoing);
  if (text) {
    const entities = message.entities ?? message.caption_entities;
    node.append(el("div", { class: "text", dir: "auto" }, renderText(text, entities, view.actions), meta));
  } else {
    meta.classList.add("over");
    node.append(meta);
  }
  if (image && message.show_caption_above_media) node.append(image);
  const under = reactions(message);
  if (under) node.append(under);
  if (isLargeEmoji(message)) node.classList.add("large-emoji");
  return node;
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
  if (message.forum_topic_created) return words.topicOpened(senderName(message), message.forum_topic_created.name);
  if (message.forum_topic_edited) return words.topicRenamed(message.forum_topic_edited.name ?? "…");
  if (message.forum_topic_closed) return words.topicClosed(senderName(message));
  if (message.forum_topic_reopened) return words.topicReopened(senderName(message));
  if (message.pinned_message) return words.pinned(senderName(message), plainText(message.pinned_message).slice(0, 60));
  if (message.new_chat_members) return words.joined(message.new_chat_members.map((member) => member.first_name).join(", "));
  if (message.left_chat_member) return words.left(message.left_chat_member.first_name);
  return null;
}
