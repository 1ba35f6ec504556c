// The replicas of the bot, if the sandbox runs several: what each one does, and buttons that kill, freeze and restart it.

import { replicas } from "./api.js";
import { button, el, replaceChildren } from "./dom.js";

const REFRESH_MS = 1000;
const UNKNOWN = "–";
const ABOUT = "Kill ends it at once, as in a crash (SIGKILL), until you start it. Freeze stops it without an end, as on a machine that hangs (SIGSTOP). Restart lets it finish first (SIGTERM).";
const ALIVE = new Set(["starting", "running", "not ready"]);

export class ReplicaList {
  // isShown() says whether the user can see the list. onError(text) is called if the sandbox rejected something.
  constructor({ isShown, onError }) {
    this.isShown = isShown;
    this.onError = onError;
    this.rows = new Map();
    // Laid out as a grid, which takes a table's roles away.
    this.list = el("tbody", { role: "rowgroup" });
    const titles = ["Replica", "State", "Leader", "Chats"].map((title) => el("th", { role: "columnheader" }, title));
    this.node = el("fieldset", { class: "choice replicas", "data-testid": "replicas", hidden: true },
      el("legend", {}, "Replicas ", el("small", {}, "processes of the bot on one database")),
      el("table", { role: "table" }, el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, titles, el("td", { role: "cell" }))), this.list), el("p", { class: "hint" }, ABOUT));
  }

  // Asks every second, unless the sandbox has only one bot. A sandbox that is started again can have another number.
  async start() {
    await this.refresh();
    clearInterval(this.timer);
    if (this.rows.size) this.timer = setInterval(() => document.visibilityState === "visible" && this.isShown() && this.refresh(), REFRESH_MS);
  }

  async refresh() {
    try {
      this.show((await replicas.list()).replicas);
    } catch (error) {
      this.onError(error.message);
    }
  }

  show(listed) {
    this.node.hidden = !listed.length;
    // Rows stay the same nodes, so that a focused button keeps its focus.
    if (listed.length !== this.rows.size) {
      this.rows = new Map(listed.map(({ number }) => [number, new Row(number, (action) => this.act(number, action))]));
      replaceChildren(this.list, [...this.rows.values()].map((row) => row.node));
    }
    for (const replica of listed) this.rows.get(replica.number).show(replica);
  }

  async act(number, action) {
    try {
      this.show((await replicas.act(number, action)).replicas);
      this.onError("");
    } catch (error) {
      this.onError(error.message);
    }
  }
}

class Row {
  constructor(number, act) {
    this.state = el("td", { role: "cell", "data-testid": "replica-state" });
    this.leader = el("td", { role: "cell", "data-testid": "replica-leader" });
    this.chats = el("td", { role: "cell", "data-testid": "replica-chats" });
    const control = (id, action) => button("", { class: "action small", "data-testid": `replica-${id}`, onclick: () => act(action()) });
    this.kill = control("kill", () => "kill");
    this.freeze = control("freeze", () => (this.is === "frozen" ? "continue" : "freeze"));
    this.restart = control("restart", () => "restart");
    this.node = el("tr", { role: "row", "data-testid": `replica-${number}` }, el("th", { role: "rowheader" }, String(number)), this.state, this.leader, this.chats,
      el("td", { role: "cell", class: "replica-buttons" }, this.kill, this.freeze, this.restart));
    this.name = `replica ${number}`;
  }

  show({ state, leader, chats }) {
    this.is = state;
    this.node.dataset.state = state;
    this.node.dataset.chats = chats ?? "";
    this.state.textContent = state;
    this.leader.textContent = leader === null ? UNKNOWN : leader ? "leader" : "";
    this.chats.textContent = chats ?? UNKNOWN;
    this.label(this.kill, "Kill", state !== "dead");
    this.label(this.freeze, state === "frozen" ? "Continue" : "Freeze", ALIVE.has(state) || state === "frozen");
    this.label(this.restart, state === "dead" ? "Start" : "Restart", state !== "stopping");
  }

  label(control, word, isEnabled) {
    control.textContent = word;
    control.setAttribute("aria-label", `${word} ${this.name}`);
    control.disabled = !isEnabled;
  }
}
