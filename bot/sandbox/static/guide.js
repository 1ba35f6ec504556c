// The line above the chats: three first steps, ticked as they are done, and then what to try next, one press each.

import { button, el, icon, iconButton, replaceChildren } from "./dom.js";
import { Halted, Play } from "./play.js";
import { recall, remember } from "./prefs.js";
import { scenesFor } from "./scenes.js";

const HIDDEN_KEY = "guide.done";
const SHOWN_KEY = "guide.shown";
const DONE = "Done! Try next:";

export class Guide {
  // places, stage and tabs: for the scenes. onPlay() is called before one.
  constructor({ store, stage, tabs, places, onPlay }) {
    Object.assign(this, { store, stage, tabs, places, onPlay });
    const people = [...store.people.values()];
    const role = (wanted) => people.find((person) => person.role === wanted);
    this.senders = people.filter((person) => person.role === "sender");
    this.scenes = scenesFor({ senders: this.senders, operator: role("operator"), agent: role("supporter"), group: [...store.chats.values()].find((chat) => chat.is_forum) });
    const name = this.senders[0]?.first_name ?? "a sender";
    this.steps = [
      ["hello", "Say hello", `Press Start in ${name}’s chat.`],
      ["send", "Send rupiah", "Answer the bot’s questions. Any account number works."],
      ["pay", "Pay", `Scan the QR code in ${name}’s wallet.`],
      ["receipt", "Get the receipt", "Wait until the rupiah are sent."],
    ];
    this.done = [];
    this.orders = [];
    this.shown = new Set(recall(SHOWN_KEY, []));
    this.list = el("ol", { class: "guide-steps" });
    this.text = el("p", { class: "guide-text", role: "status", "data-testid": "guide-text" });
    this.buttons = new Map(this.scenes.map((scene) => [scene.id, this.sceneButton(scene)]));
    this.stopButton = button("Stop", { class: "action small", "data-testid": "scene-stop", hidden: true, onclick: () => this.play?.stop() });
    this.next = el("div", { class: "guide-next", hidden: true }, this.text, el("div", { class: "scenes" }, [...this.buttons.values()], this.stopButton));
    this.node = el("section", { class: "guide", "aria-label": "First steps", "data-testid": "guide", hidden: recall(HIDDEN_KEY, false) },
      this.list, this.next, iconButton("close", "Hide the first steps", { "data-testid": "guide-close", onclick: () => this.leave() }));
    this.update();
  }

  sceneButton(scene) {
    return button("", { class: "action small scene", "data-testid": `scene-${scene.id}`, onclick: () => this.start(scene) },
      el("span", { class: "scene-mark" }, icon("check")), el("span", {}, scene.label, el("span", { class: "scene-more" }, scene.more)));
  }

  // Called for every message and every refresh of the orders.
  update(orders = this.orders) {
    this.orders = orders;
    const spoken = this.senders.some(({ id }) => this.store.history(id).some((message) => message.from?.id === id));
    const paid = orders.filter((order) => order.paid);
    const done = [spoken, orders.length > 0, paid.length > 0, paid.some((order) => order.state === "FAILED" || this.hasReceipt(order))];
    if (done.join() === this.done.join()) return;
    this.done = done;
    this.draw();
  }

  // The bot's picture that is newer than the order's end. That of the invoice is older.
  hasReceipt({ completedAt }) {
    const isReceipt = (message) => message.photo && message.from?.is_bot && message.date >= Math.floor(Date.parse(completedAt) / 1000);
    return this.senders.some(({ id }) => this.store.history(id).some(isReceipt));
  }

  draw() {
    const current = this.done.indexOf(false);
    this.list.hidden = current < 0;
    this.next.hidden = current >= 0;
    if (current < 0 && !this.play) this.rest(this.text.textContent || DONE);
    replaceChildren(this.list, this.steps.map(([name, title, about], place) => {
      const look = this.done[place] ? "done" : place === current ? "current" : "";
      return el("li", { class: `step ${look}`, "data-step": name, "aria-current": place === current ? "step" : null },
        el("span", { class: "step-mark" }, this.done[place] ? icon("check") : String(place + 1)),
        el("span", {}, el("strong", {}, title), " ", el("span", { class: "step-about" }, about)));
    }));
  }

  async start(scene) {
    if (this.play) return;
    const { store, stage, tabs, places } = this;
    this.play = new Play({ store, stage, tabs, places, say: (text) => this.say(text, "playing") });
    this.onPlay();
    this.showScenes(false);
    const [text, tone] = await this.result(scene);
    this.play = null;
    this.rest(text, tone);
  }

  async result(scene) {
    try {
      const shown = await scene.act(this.play);
      await this.play.read();
      this.shown.add(scene.id);
      remember(SHOWN_KEY, [...this.shown]);
      return [`Just proved: ${shown}`, "proved"];
    } catch (error) {
      return [error instanceof Halted ? error.message : `It stopped: ${error.message}`, "halted"];
    }
  }

  // Nothing plays: another scene can be chosen.
  rest(text, tone = "rest") {
    this.say(text, tone);
    this.showScenes(true);
    for (const [id, node] of this.buttons) node.classList.toggle("shown", this.shown.has(id));
  }

  showScenes(areShown) {
    this.stopButton.hidden = areShown;
    for (const node of this.buttons.values()) node.hidden = !areShown;
  }

  say(text, tone) {
    this.text.textContent = text;
    this.node.dataset.tone = tone;
  }

  leave() {
    this.play?.stop();
    this.node.hidden = true;
    remember(HIDDEN_KEY, true);
  }
}
