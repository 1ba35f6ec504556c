// Inline mode: `@bot …` in any chat shows the bot's results for this user, and one of them becomes a message via the bot.

import { telegram } from "./api.js";
import { el, replaceChildren } from "./dom.js";

// As apps do: a short pause in typing begins the query.
const PAUSE_MS = 250;

// onSent() is called after a result was sent; say(text) shows a short message; open(word) opens the bot with /start.
export class InlineResults {
  constructor({ bot, chatId, personId, words, onSent, say, open }) {
    Object.assign(this, { chatId, personId, words, onSent, say, open });
    this.pattern = new RegExp(`^@${bot.username}\\s(.*)$`, "is");
    this.node = el("div", { class: "command-menu inline-results", role: "menu", "aria-label": words.inlineResults, "data-testid": "inline-results", hidden: true });
    this.asked = 0;
  }

  // Returns whether the text is an inline query.
  typed(text) {
    clearTimeout(this.timer);
    const found = this.pattern.exec(text);
    this.asked += 1;
    if (!found) this.hide();
    else this.timer = setTimeout(() => this.ask(found[1], this.asked), PAUSE_MS);
    return Boolean(found);
  }

  hide() {
    this.node.hidden = true;
    replaceChildren(this.node);
  }

  async ask(query, number) {
    try {
      const answer = await telegram.inline(this.chatId, { from: this.personId, query });
      if (number === this.asked) this.show(answer);
    } catch (error) {
      this.say(error.message);
    }
  }

  show({ query_id: queryId, results, button }) {
    const start = button && el("button", { type: "button", role: "menuitem", class: "command-item inline-start", "data-testid": "inline-start", onclick: () => this.start(button.start_parameter) },
      el("span", { class: "command-name" }, button.text));
    replaceChildren(this.node, [start, ...results.map((result) => this.item(queryId, result))].filter(Boolean));
    this.node.hidden = !this.node.childElementCount;
  }

  item(queryId, { id, title, description }) {
    return el("button", { type: "button", role: "menuitem", class: "command-item", "data-testid": "inline-result", onclick: () => this.choose(queryId, id) },
      el("span", { class: "command-name", dir: "auto" }, title), el("span", { class: "command-about", dir: "auto" }, description));
  }

  start(word) {
    this.hide();
    this.onSent();
    this.open(word);
  }

  async choose(queryId, resultId) {
    try {
      await telegram.chooseInline(this.chatId, { from: this.personId, query_id: queryId, result_id: resultId });
      this.hide();
      this.onSent();
    } catch (error) {
      this.say(error.message);
    }
  }
}

// The word of a link that opens this bot: t.me/<bot>?start=<word>. null for other addresses.
export function startWord(address, bot) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return null;
  }
  const isBot = url.hostname === "t.me" && url.pathname.slice(1).toLowerCase() === bot.username.toLowerCase();
  return isBot ? url.searchParams.get("start") ?? "" : null;
}
