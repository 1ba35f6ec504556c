// Inline mode: `@bot …` in any chat shows the bot's results for this user, and one of them becomes a message via the bot.

import { telegram } from "./api.js";
import { button, el, replaceChildren } from "./dom.js";

export class Menu {
  // onLeave() is called when Escape closes it; onShown(isShown) when it appears or goes.
  constructor({ label, testId, onLeave, onShown = () => {} }) {
    Object.assign(this, { onLeave, onShown });
    this.node = el("div", { class: "command-menu", role: "menu", "aria-label": label, "data-testid": testId, hidden: true, onkeydown: (event) => this.key(event) });
  }

  // items: [{ name, about, testId, act }]. None hide it.
  show(items = []) {
    replaceChildren(this.node, items.map(({ name, about, testId, act }) => button("", { role: "menuitem", class: "command-item", "data-testid": testId, onclick: act },
      el("span", { class: "command-name", dir: "auto" }, name), about && el("span", { class: "command-about", dir: "auto" }, about))));
    this.node.hidden = !items.length;
    this.onShown(!this.node.hidden);
  }

  key(event) {
    const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (next) {
      event.preventDefault();
      document.activeElement[next]?.focus();
    }
    if (event.key === "Escape") {
      this.show();
      this.onLeave();
    }
  }
}

// As apps do: a short pause in typing begins the query.
const PAUSE_MS = 250;

export class InlineResults {
  // onSent() is called after a result was sent; attempt(work) shows its error; open(word) opens the bot with /start.
  constructor({ bot, chatId, personId, words, onSent, attempt, open }) {
    Object.assign(this, { chatId, personId, onSent, attempt, open });
    this.pattern = new RegExp(`^@${bot.username}\\s(.*)$`, "is");
    this.menu = new Menu({ label: words.inlineResults, testId: "inline-results", onLeave: () => {} });
    this.asked = 0;
  }

  typed(text) {
    clearTimeout(this.timer);
    const found = this.pattern.exec(text);
    this.asked += 1;
    if (!found) this.menu.show();
    else this.timer = setTimeout(() => this.attempt(() => this.ask(found[1], this.asked)), PAUSE_MS);
  }

  async ask(query, number) {
    const { query_id: queryId, results, button } = await telegram.inline(this.chatId, { from: this.personId, query });
    if (number !== this.asked) return;
    const start = button ? [{ name: button.text, testId: "inline-start", act: () => this.start(button.start_parameter) }] : [];
    this.menu.show([...start, ...results.map(({ id, title, description }) => ({
      name: title, about: description, testId: "inline-result", act: () => this.attempt(() => this.choose(queryId, id)),
    }))]);
  }

  start(word) {
    this.onSent();
    this.open(word);
  }

  async choose(queryId, resultId) {
    await telegram.chooseInline(this.chatId, { from: this.personId, query_id: queryId, result_id: resultId });
    this.onSent();
  }
}

// The word of a link that opens this bot: t.me/<bot>?start=<word>. null for other addresses.
export function startWord(address, bot) {
  const url = URL.canParse(address) ? new URL(address) : null;
  const isBot = url?.hostname === "t.me" && url.pathname.slice(1).toLowerCase() === bot.username.toLowerCase();
  return isBot ? url.searchParams.get("start") ?? "" : null;
}
