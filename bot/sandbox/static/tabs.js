// On a phone, only one part is shown at a time: the chat, the wallet or the service.

import { button, el, icon } from "./dom.js";

const TABS = [["chat", "Chat"], ["wallet", "Wallet"], ["service", "Service"]];

export class PhoneTabs {
  constructor() {
    this.tabs = new Map(TABS.map(([name, label]) => [name, this.tab(name, label)]));
    this.node = el("nav", { class: "tabs", "aria-label": "Views" }, [...this.tabs.values()]);
    this.choose("chat");
  }

  tab(name, label) {
    return button("", { class: "tab", "data-tab": name, "data-testid": `tab-${name}`, onclick: () => this.choose(name) },
      icon(name), el("span", {}, label), el("span", { class: "badge", hidden: true }), el("span", { class: "offscreen" }));
  }

  choose(name) {
    document.body.dataset.tab = name;
    for (const [own, tab] of this.tabs) tab.setAttribute("aria-pressed", String(own === name));
  }

  // text: the badge, such as "1", or "" for none; unit: what it counts, for screen readers.
  mark(name, text, unit) {
    const [badge, spoken] = [...this.tabs.get(name).children].slice(-2);
    badge.textContent = text;
    badge.hidden = !text;
    spoken.textContent = text && ` ${unit}`;
  }
}
