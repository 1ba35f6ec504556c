// The panel at the bottom of the page: the settlement sandbox and its controls.

import { service } from "./api.js";
import { Controls } from "./controls.js";
import { button, el, icon, iconButton } from "./dom.js";
import { OrderList } from "./orders.js";
import { recall, remember } from "./prefs.js";
import { ReplicaList } from "./replicas.js";

const REFRESH_MS = 1500;
const OPEN_KEY = "service.open";

export class ServicePanel {
  // onOrders(orders) is called after every refresh, for the guide and the wallets.
  constructor({ senders, onOrders }) {
    Object.assign(this, { senders, onOrders });
    this.message = el("p", { class: "service-message", role: "status", "aria-live": "polite", "data-testid": "service-message" });
    this.orders = new OrderList({ senders, onChange: () => this.refresh(), onError: (text) => this.say(text) });
    this.controls = new Controls({ onError: (text) => this.say(text) });
    this.replicas = new ReplicaList({ isShown: () => this.controlsAreShown(), onError: (text) => this.say(text) });
    this.controls.node.prepend(this.replicas.node);
    this.count = el("span", { class: "count" });
    this.toggle = button("", { class: "service-toggle", "data-testid": "service-toggle", "aria-controls": "service-body", onclick: () => this.open(!this.isOpen) },
      icon("service"), el("span", {}, "Settlement service"), this.count, icon("up", "turn"));
    this.node = el("section", { class: "service", "aria-label": "Settlement service", "data-testid": "service" },
      el("header", { class: "service-head" }, this.toggle, this.message),
      el("div", { class: "service-body", id: "service-body" }, iconButton("close", "Close the panel", { class: "service-close", onclick: () => this.close() }), this.orders.node, this.controls.node));
    this.open(recall(OPEN_KEY, false));
  }

  async start() {
    await this.refresh();
    this.replicas.start();
    this.controls.refreshMethods().catch((error) => this.say(error.message));
    setInterval(() => document.visibilityState === "visible" && this.refresh(), REFRESH_MS);
  }

  // The sandbox answers again, perhaps after another start.
  reconnected() {
    this.replicas.start();
  }

  async refresh() {
    try {
      const { orders } = await service.orders();
      await this.senders.learn(orders);
      this.orders.show(orders);
      this.count.textContent = orders.length ? `${orders.length} ${orders.length === 1 ? "order" : "orders"}` : "";
      this.onOrders(orders);
      // Once in any case, so that they are right as soon as they are seen.
      if (!this.isRefreshed || this.controlsAreShown()) await this.controls.refresh();
      this.isRefreshed = true;
      if (this.offline) this.say("");
      this.offline = false;
    } catch (error) {
      this.offline = true;
      this.say(error.message);
    }
  }

  open(isOpen) {
    this.isOpen = isOpen;
    this.node.classList.toggle("open", isOpen);
    this.toggle.setAttribute("aria-expanded", String(isOpen));
    remember(OPEN_KEY, isOpen);
    if (isOpen && !this.replicas.node.hidden) this.replicas.refresh();
    if (isOpen && this.isRefreshed) this.refresh();
  }

  controlsAreShown() {
    return this.controls.node.offsetParent !== null;
  }

  close() {
    this.open(false);
    this.toggle.focus();
  }

  say(text) {
    this.message.textContent = text;
  }
}
