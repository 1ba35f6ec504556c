// The replicas of the bot, if the sandbox runs several: what each one does, and buttons that kill, freeze and restart it.

import { replicas } from "./api.js";
import { button, el, update } from "./dom.js";

const REFRESH_MS = 1000;
const UNKNOWN = "–";
const ABOUT = "Kill ends it at once, as in a crash (SIGKILL), until you start it. Freeze stops it without an end, as on a machine that hangs (SIGSTOP). Restart lets it finish first (SIGTERM).";
const ALIVE = new Set(["starting", "running", "not ready"]);

export class ReplicaList {
  // isShown() says whether the user can see the list. attempt(work, isRefresh): see service.js.
  constructor({ isShown, attempt }) {
    Object.assign(this, { isShown, attempt });
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
    if (!this.node.hidden) this.timer = setInterval(() => document.visibilityState === "visible" && this.isShown() && this.refresh(), REFRESH_MS);
  }

  refresh() {
    return this.attempt(async () => this.show(await replicas.list()), true);
  }

  show({ replicas: listed }) {
    this.node.hidden = !listed.length;
    update(this.list, listed.map((replica) => ({ key: replica.number, shown: replica, make: () => this.row(replica) })));
  }

  row({ number, state, leader, chats }) {
    const control = (id, word, action, isEnabled) => button(word, {
      class: "action small", "data-testid": `replica-${id}`, "aria-label": `${word} replica ${number}`, disabled: !isEnabled,
      onclick: () => this.attempt(async () => this.show(await replicas.act(number, action))),
    });
    const cell = (id, text) => el("td", { role: "cell", "data-testid": `replica-${id}` }, text);
    const isFrozen = state === "frozen";
    return el("tr", { role: "row", "data-testid": `replica-${number}`, "data-state": state, "data-chats": chats ?? "" },
      el("th", { role: "rowheader" }, String(number)), cell("state", state), cell("leader", leader === null ? UNKNOWN : leader ? "leader" : ""), cell("chats", String(chats ?? UNKNOWN)),
      el("td", { role: "cell", class: "replica-buttons" },
        control("kill", "Kill", "kill", state !== "dead"),
        control("freeze", isFrozen ? "Continue" : "Freeze", isFrozen ? "continue" : "freeze", isFrozen || ALIVE.has(state)),
        control("restart", state === "dead" ? "Start" : "Restart", "restart", state !== "stopping")));
  }
}
