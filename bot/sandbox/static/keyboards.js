// Two kinds of buttons: those below a message, and those that replace the phone's keyboard.

import { el, icon } from "./dom.js";

const STYLES = new Set(["danger", "success", "primary"]);

// onPress(button, node) for callback and copy buttons, and for links that isOwn says lead to the bot. Others open by themselves.
export function inlineKeyboard(rows, onPress, isOwn = () => false) {
  const line = (row) => el("div", { class: "keyboard-row" }, row.map((button) => inlineButton(button, onPress, isOwn)));
  return el("div", { class: "inline-keyboard" }, rows.map(line));
}

function inlineButton(button, onPress, isOwn) {
  const properties = { class: buttonClass("inline-button", button), "data-testid": "inline-button" };
  if (button.url && /^https?:/i.test(button.url) && !isOwn(button.url)) {
    return el("a", { ...properties, href: button.url, target: "_blank", rel: "noopener noreferrer", title: button.url }, label(button), icon("link", "corner"));
  }
  const node = el("button", { type: "button", ...properties }, label(button), button.copy_text && icon("copy", "corner"), button.url && icon("link", "corner"), button.switch_inline_query !== undefined && icon("send", "corner"));
  if (button.callback_data) node.dataset.data = button.callback_data;
  node.addEventListener("click", () => onPress(button, node));
  return node;
}

function label(button) {
  return el("span", { class: "label", dir: "auto" }, button.text);
}

function buttonClass(base, button) {
  return STYLES.has(button.style) ? `${base} style-${button.style}` : base;
}

// A reply keyboard below the input. Pressing a button sends its text.
export function replyKeyboard(markup, onPress) {
  const node = el("div", { class: `reply-keyboard${markup.resize_keyboard ? " resized" : ""}`, role: "group", "aria-label": "Keyboard of the bot" });
  for (const row of markup.keyboard) node.append(el("div", { class: "keyboard-row" }, row.map((button) => replyButton(button, onPress))));
  return node;
}

function replyButton(button, onPress) {
  const shape = typeof button === "string" ? { text: button } : button;
  return el("button", {
    type: "button", class: buttonClass("reply-button", shape), "data-testid": "reply-button", onclick: () => onPress(shape),
  }, label(shape));
}

// The newest message with a reply keyboard setting decides. null if none is shown.
export function currentReplyKeyboard(messages) {
  for (const message of messages.toReversed()) {
    const markup = message.reply_markup;
    if (markup?.remove_keyboard) return null;
    if (markup?.keyboard) return { markup, messageId: message.message_id };
  }
  return null;
}
