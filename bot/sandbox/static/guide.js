// Three steps for new users. Each is ticked when it is done, and then the guide disappears.

import { el, icon, iconButton, replaceChildren } from "./dom.js";
import { recall, remember } from "./prefs.js";

const KEY = "guide.done";
const GOODBYE_MS = 12000;

export class Guide {
  constructor({ store, senders }) {
    this.store = store;
    this.senders = senders;
    this.done = [false, false, false];
    this.list = el("ol", { class: "guide-steps" });
    this.node = el("section", { class: "guide", "aria-label": "First steps", "data-testid": "guide", hidden: recall(KEY, false) },
      this.list, iconButton("close", "Hide the first steps", { "data-testid": "guide-close", onclick: () => this.leave() }));
    this.draw();
  }

  steps() {
    const [first] = this.senders;
    const name = first?.first_name ?? "a sender";
    return [
      ["hello", "Say hello", `Press Start in ${name}’s chat.`],
      ["send", "Send rupiah", "Answer the bot’s questions."],
      ["pay", "Pay", `Scan the QR code in ${name}’s wallet.`],
    ];
  }

  // Called for every message and every refresh of the orders.
  update(orders) {
    if (orders) this.orders = orders;
    const spoken = this.senders.some(({ id }) => this.store.history(id).some((message) => message.from?.id === id));
    const known = this.orders ?? [];
    const paid = known.some((order) => order.paid);
    const done = [spoken, known.length > 0, paid];
    if (done.join() === this.done.join()) return;
    this.done = done;
    this.draw();
    if (done.every(Boolean) && !this.node.hidden) setTimeout(() => this.leave(), GOODBYE_MS);
  }

  draw() {
    const current = this.done.indexOf(false);
    if (current < 0) {
      replaceChildren(this.list, el("li", { class: "step done current" }, el("span", { class: "step-mark" }, icon("check")),
        el("span", {}, el("strong", {}, "Done! "), "Watch the rupiah being sent.")));
      return;
    }
    replaceChildren(this.list, this.steps().map(([name, title, about], place) => {
      const isDone = this.done[place];
      return el("li", { class: `step${isDone ? " done" : ""}${place === current ? " current" : ""}`, "data-step": name, "aria-current": place === current ? "step" : null },
        el("span", { class: "step-mark" }, isDone ? icon("check") : String(place + 1)),
        el("span", {}, el("strong", {}, title), " ", el("span", { class: "step-about" }, about)));
    }));
  }

  leave() {
    this.node.hidden = true;
    remember(KEY, true);
  }
}
