// The input of a chat: text, files, the command menu, and the message replied to or edited.

import { button, el, iconButton, replaceChildren } from "./dom.js";
import { Menu } from "./inline.js";
import { plainText, senderName } from "./message.js";

export class Composer {
  // onSend(text, replyToId, file) sends, onEdit(message, text) edits; commands() returns the current menu. inline: see
  // inline.js.
  constructor({ name, words, commands, onSend, onEdit, inline }) {
    Object.assign(this, { words, inline, commands, onSend, onEdit, replyTo: null, editing: null });
    this.input = el("textarea", {
      rows: "1", class: "composer-input", placeholder: words.message, "aria-label": `Message from ${name}`,
      "data-testid": "composer", maxlength: "4096", dir: "auto", oninput: () => this.typed(), onkeydown: (event) => this.key(event),
    });
    this.menuButton = iconButton("menu", `Commands for ${name}`, { class: "menu-button", "aria-expanded": "false", "data-testid": "commands", onclick: () => this.toggleMenu() });
    this.menu = new Menu({ label: "Commands", onLeave: () => this.input.focus(), onShown: (isShown) => this.menuButton.setAttribute("aria-expanded", String(isShown)) });
    this.replyBar = el("div", { class: "reply-bar", hidden: true });
    const file = el("input", { type: "file", hidden: true, "data-testid": "picture", "aria-label": `File from ${name}`, onchange: () => this.attach(file) });
    this.node = el("div", { class: "composer" }, this.menu.node, inline.menu.node, this.replyBar,
      el("form", { class: "composer-line", onsubmit: (event) => this.submit(event) }, this.input, this.menuButton, file,
        iconButton("clip", `Send a file as ${name}`, { onclick: () => file.click() }),
        iconButton("send", `Send as ${name}`, { class: "send-button", type: "submit", "data-testid": "send" })));
  }

  // The typed text becomes the file's caption.
  attach(input) {
    const [file] = input.files;
    if (file) this.send(this.taken(), file);
    input.value = "";
  }

  taken() {
    const text = this.input.value.trim();
    this.write("");
    return text;
  }

  write(text) {
    this.input.value = text;
    this.typed();
  }

  // Begins a message with this text, as a button of the bot asks for.
  begin(text) {
    this.setReply(null);
    this.write(text);
    this.input.focus();
  }

  submit(event) {
    event.preventDefault();
    const text = this.taken();
    if (!text) return;
    const message = this.editing;
    if (!message) return this.send(text);
    this.setReply(null);
    this.onEdit(message, text);
  }

  send(text, file) {
    const replyTo = this.replyTo?.message_id;
    this.setReply(null);
    this.menu.show();
    this.onSend(text, replyTo, file);
  }

  key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.submit(event);
    if (event.key === "Escape") {
      this.menu.show();
      this.inline.menu.show();
      this.setReply(null);
    }
    if (event.key === "ArrowUp" && !this.menu.node.hidden) {
      event.preventDefault();
      this.menu.node.lastElementChild.focus();
    }
  }

  typed() {
    this.inline.typed(this.input.value);
    const begun = /^\/\w*$/.exec(this.input.value)?.[0];
    this.showCommands((command) => begun && `/${command}`.startsWith(begun));
  }

  toggleMenu() {
    this.showCommands(() => this.menu.node.hidden);
    this.menu.node.firstElementChild?.focus();
  }

  showCommands(isShown) {
    this.menu.show(this.commands().filter(({ command }) => isShown(command)).map(({ command, description }) => ({
      name: `/${command}`, about: description, testId: "command", act: () => {
        this.write("");
        this.send(`/${command}`);
        this.input.focus();
      },
    })));
  }

  refreshCommands() {
    this.menuButton.hidden = this.commands().length === 0;
  }

  setReply(message) {
    // The text of a cancelled edit isn't kept for the next message.
    if (this.editing) this.write("");
    Object.assign(this, { replyTo: message, editing: null });
    this.showBar(message, message && senderName(message));
  }

  setEdit(message) {
    Object.assign(this, { replyTo: null, editing: message });
    this.write(plainText(message));
    this.showBar(message, this.words.editing);
  }

  showBar(message, heading) {
    this.replyBar.hidden = !message;
    if (!message) return;
    replaceChildren(this.replyBar,
      el("span", { class: "quoted" }, el("span", { class: "quoted-name" }, heading), el("span", { class: "quoted-text" }, plainText(message) || this.words.hidden)),
      iconButton("close", this.words.cancel, { onclick: () => this.setReply(null) }));
    this.input.focus();
  }
}

// Shown instead of the input before the first message, and while the bot is blocked.
export function oneButtonComposer(label, testId, onPress) {
  return el("div", { class: "composer single" }, button(label, { class: "single-button", "data-testid": testId, onclick: onPress }));
}
