// The message list of one chat: keeps its position while the user reads, otherwise follows the newest message.
// Tab stops at the buttons of one message: the newest, until the arrow keys choose another. So the input is always near.

import { clock, dayOf, el, iconButton, replaceChildren } from "./dom.js";
import { renderMessage } from "./message.js";

const NEAR_END_PX = 80;
const GROUPED_SECONDS = 300;

export class MessageLog {
  constructor({ label, chatId, view }) {
    this.view = view;
    this.list = el("div", { class: "messages", role: "log", "aria-label": label, "aria-live": "polite", "aria-keyshortcuts": "ArrowUp ArrowDown", tabindex: "0", "data-chat": chatId, onkeydown: (event) => this.key(event) });
    this.unseen = 0;
    this.jump = iconButton("down", view.words.newer, { class: "jump", hidden: true, onclick: () => this.toEnd() });
    this.jump.append(el("span", { class: "badge" }));
    this.node = el("div", { class: "log" }, this.list, this.jump);
    // Pictures get their height late, and a phone's keyboard takes space. Stay at the end through both,
    // until the user scrolls up.
    this.follow = true;
    this.lastTop = 0;
    this.list.addEventListener("scroll", () => this.scrolled());
    this.list.addEventListener("load", () => this.follow && this.toEnd(), { capture: true });
    new ResizeObserver(() => this.follow && this.toEnd()).observe(this.list);
  }

  show(messages, empty) {
    replaceChildren(this.list, messages.length ? [] : empty);
    this.chosen = null;
    for (const message of messages) this.append(message);
    this.toEnd();
    this.seen();
  }

  add(message) {
    if (!this.list.querySelector("[data-message-id]")) this.list.replaceChildren();
    const follow = this.follow || message.from?.id === this.view.viewerId;
    const node = this.append(message);
    node.classList.add("arriving");
    if (follow) this.toEnd();
    else this.countUnseen();
  }

  append(message) {
    const node = renderMessage(message, this.view);
    const last = this.list.lastElementChild;
    const day = dayOf(message.date);
    if (this.day !== day || !last) this.list.append(el("div", { class: "day" }, this.dayName(message.date)));
    else if (last.dataset.from === node.dataset.from && message.date - Number(last.dataset.date) < GROUPED_SECONDS) node.classList.add("grouped");
    this.day = day;
    node.dataset.date = message.date;
    this.list.append(node);
    this.choose(node);
    return node;
  }

  replace(message) {
    const old = this.find(message.message_id);
    if (!old) return;
    const node = renderMessage(message, this.view);
    node.dataset.date = message.date;
    if (old.classList.contains("grouped")) node.classList.add("grouped");
    const focused = focusables(old).indexOf(document.activeElement);
    old.replaceWith(node);
    if (old === this.chosen) this.chosen = node;
    else leave(node);
    // Keyboard focus stays in place when a message changes.
    if (focused >= 0) focusables(node)[focused]?.focus();
    node.classList.add("edited-now");
    if (this.follow) this.toEnd();
  }

  remove(messageId) {
    const node = this.find(messageId);
    if (!node) return;
    const other = this.neighbour(node, 1) ?? this.neighbour(node, -1);
    node.remove();
    if (node === this.chosen) this.choose(other);
  }

  neighbour(node, way) {
    const all = [...this.list.querySelectorAll("[data-message-id]")];
    return all[all.indexOf(node) + way];
  }

  choose(node) {
    const last = this.chosen;
    this.chosen = node;
    if (last?.contains(document.activeElement)) last.addEventListener("focusout", ({ relatedTarget }) => last !== this.chosen && !last.contains(relatedTarget) && leave(last));
    else if (last && last !== node) leave(last);
    for (const control of node?.querySelectorAll("[data-left]") ?? []) {
      control.removeAttribute("data-left");
      control.tabIndex = 0;
    }
  }

  key(event) {
    const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!way || !this.chosen || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const next = event.target === this.list ? this.chosen : this.neighbour(this.chosen, way);
    event.preventDefault();
    if (!next) return;
    this.choose(next);
    next.focus();
  }

  find(messageId) {
    return this.list.querySelector(`[data-message-id="${messageId}"]`);
  }

  scrolled() {
    const top = this.list.scrollTop;
    if (this.atEnd()) this.seen();
    else if (top < this.lastTop) this.follow = false;
    this.lastTop = top;
  }

  atEnd() {
    return this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < NEAR_END_PX;
  }

  // Before the first message, the list starts at its beginning.
  toEnd() {
    const hasMessages = this.list.querySelector("[data-message-id]") !== null;
    this.list.scrollTop = hasMessages ? this.list.scrollHeight : 0;
    this.seen();
  }

  countUnseen() {
    this.unseen += 1;
    this.jump.hidden = false;
    this.jump.lastElementChild.textContent = this.unseen;
  }

  seen() {
    this.follow = true;
    this.unseen = 0;
    this.jump.hidden = true;
  }

  dayName(unixSeconds) {
    if (dayOf(unixSeconds) === dayOf(Date.now() / 1000)) return this.view.words.today;
    return `${dayOf(unixSeconds, this.view.words.locale)}, ${clock(unixSeconds)}`;
  }
}

function focusables(node) {
  return [...node.querySelectorAll("button, a, [tabindex]")];
}

// Takes the message's controls out of the order of Tab. They can still be clicked.
function leave(node) {
  for (const control of focusables(node)) {
    if (control.tabIndex < 0) continue;
    control.dataset.left = "";
    control.tabIndex = -1;
  }
}
