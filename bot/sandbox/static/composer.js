// The input of a chat: text, files, the command menu, the message replied to or edited, the bot's reply keyboard.

import { button, el, iconButton, replaceChildren } from "./dom.js";
import { replyKeyboard } from "./keyboards.js";
import { plainText, senderName } from "./message.js";

const TALLEST_PX = 132;

export class Composer {
  // onSend(text, replyToId, file) sends, onEdit(message, text) edits; commands() returns the current menu. inline: see
  // inline.js.
  constructor({ name, words, commands, onSend, onEdit, inline }) {
    this.words = words;
    this.inline = inline;
    this.commands = commands;
    this.onSend = onSend;
    this.onEdit = onEdit;
    this.replyTo = null;
    this.editing = null;
    this.keyboard = null;
    this.input = el("textarea", {
      rows: "1", class: "composer-input", placeholder: words.message, "aria-label": `Message from ${name}`,
      "data-testid": "composer", maxlength: "4096", dir: "auto", oninput: () => this.typed(), onkeydown: (event) => this.key(event),
    });
    this.menuButton = iconButton("menu", `Commands for ${name}`, { class: "menu-button", "aria-expanded": "false", "data-testid": "commands", onclick: () => this.toggleMenu() });
    this.keysButton = iconButton("keys", "Show or hide the keyboard", { onclick: () => this.toggleKeyboard(), hidden: true });
    this.menu = el("div", { class: "command-menu", role: "menu", "aria-label": "Commands", hidden: true, onkeydown: (event) => this.menuKey(event) });
    this.replyBar = el("div", { class: "reply-bar", hidden: true });
    this.keys = el("div", { class: "keys", hidden: true });
    const send = iconButton("send", `Send as ${name}`, { class: "send-button", type: "submit", "data-testid": "send" });
    const form = el("form", { class: "composer-line", onsubmit: (event) => this.submit(event) }, this.input, this.menuButton, this.keysButton, ...this.attaching(name), send);
    this.node = el("div", { class: "composer" }, this.menu, this.inline.node, this.replyBar, form, this.keys);
  }

  // The typed text becomes the file's caption.
  attaching(name) {
    const file = el("input", { type: "file", hidden: true, "data-testid": "picture", "aria-label": `File from ${name}` });
    file.addEventListener("change", () => {
      const [picked] = file.files;
      if (picked) this.send(this.taken(), picked);
      file.value = "";
    });
    return [file, iconButton("clip", `Send a file as ${name}`, { onclick: () => file.click() })];
  }

  taken() {
    const text = this.input.value.trim();
    this.input.value = "";
    this.typed();
    return text;
  }

  // Begins a message with this text, as a button of the bot asks for.
  begin(text) {
    this.setReply(null);
    this.input.value = text;
    this.typed();
    this.input.focus();
  }

  submit(event) {
    event?.preventDefault();
    const text = this.taken();
    if (!text) return;
    if (this.editing) this.correct(text);
    else this.send(text);
  }

  send(text, file) {
    const replyTo = this.replyTo?.message_id;
    this.setReply(null);
    this.showMenu([]);
    this.onSend(text, replyTo, file);
  }

  correct(text) {
    const message = this.editing;
    this.setReply(null);
    this.onEdit(message, text);
  }

  key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.submit(event);
    if (event.key === "Escape") {
      this.showMenu([]);
      this.inline.hide();
      this.setReply(null);
    }
    if (event.key === "ArrowUp" && !this.menu.hidden) {
      event.preventDefault();
      this.menu.lastElementChild?.focus();
    }
  }

  typed() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, TALLEST_PX)}px`;
    this.inline.typed(this.input.value);
    const begun = /^\/\w*$/.exec(this.input.value)?.[0];
    this.showMenu(begun ? this.commands().filter(({ command }) => `/${command}`.startsWith(begun)) : []);
  }

  toggleMenu() {
    this.showMenu(this.menu.hidden ? this.commands() : []);
    this.menu.firstElementChild?.focus();
  }

  showMenu(commands) {
    replaceChildren(this.menu, commands.map(({ command, description }) => el("button", {
      type: "button", role: "menuitem", class: "command-item", "data-testid": "command", onclick: () => {
        this.input.value = "";
        this.send(`/${command}`);
        this.input.focus();
      },
    }, el("span", { class: "command-name" }, `/${command}`), el("span", { class: "command-about" }, description))));
    this.menu.hidden = commands.length === 0;
    this.menuButton.setAttribute("aria-expanded", String(!this.menu.hidden));
  }

  menuKey(event) {
    const focused = document.activeElement;
    const next = { ArrowDown: focused.nextElementSibling, ArrowUp: focused.previousElementSibling }[event.key];
    if (next) {
      event.preventDefault();
      next.focus();
    }
    if (event.key === "Escape") {
      this.showMenu([]);
      this.input.focus();
    }
  }

  refreshCommands() {
    this.menuButton.hidden = this.commands().length === 0;
  }

  setReply(message) {
    this.leaveEdit();
    this.replyTo = message;
    this.showBar(message, message && senderName(message));
  }

  setEdit(message) {
    this.replyTo = null;
    this.editing = message;
    this.input.value = plainText(message);
    this.typed();
    this.showBar(message, this.words.editing);
  }

  // The text of a cancelled edit isn't kept for the next message.
  leaveEdit() {
    if (this.editing) this.taken();
    this.editing = null;
  }

  showBar(message, heading) {
    this.replyBar.hidden = !message;
    if (!message) return;
    replaceChildren(this.replyBar,
      el("span", { class: "quoted" }, el("span", { class: "quoted-name" }, heading), el("span", { class: "quoted-text" }, plainText(message) || this.words.hidden)),
      iconButton("close", this.words.cancel, { onclick: () => this.setReply(null) }));
    this.input.focus();
  }

  // current: { markup, messageId } or null, from the newest messages.
  setKeyboard(current) {
    if (current?.messageId === this.keyboard?.messageId) return;
    this.keyboard = current;
    this.keysButton.hidden = !current;
    this.keys.hidden = !current;
    this.input.placeholder = current?.markup.input_field_placeholder ?? this.words.message;
    replaceChildren(this.keys, current ? replyKeyboard(current.markup, (pressed) => this.pressKey(pressed)) : null);
  }

  pressKey(pressed) {
    if (this.keyboard.markup.one_time_keyboard) this.keys.hidden = true;
    this.send(pressed.text);
  }

  toggleKeyboard() {
    this.keys.hidden = !this.keys.hidden;
  }
}

// Shown instead of the input before the first message, and while the bot is blocked.
export function oneButtonComposer(label, testId, onPress) {
  return el("div", { class: "composer single" }, button(label, { class: "single-button", "data-testid": testId, onclick: onPress }));
}
