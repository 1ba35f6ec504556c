// On a phone, only one part is shown at a time: the chat, the wallet or the service.

import { button, el, icon } from "./dom.js";

const TABS = [["chat", "Chat"], ["wallet", "Wallet"], ["service", "Service"]];

export function phoneTabs() {
  const choose = (name) => {
    document.body.dataset.tab = name;
    for (const tab of bar.children) tab.setAttribute("aria-pressed", String(tab.dataset.tab === name));
  };
  const tab = ([name, label]) => button("", { class: "tab", "data-tab": name, "data-testid": `tab-${name}`, onclick: () => choose(name) }, icon(name), el("span", {}, label));
  const bar = el("nav", { class: "tabs", "aria-label": "Views" }, TABS.map(tab));
  choose("chat");
  return bar;
}
