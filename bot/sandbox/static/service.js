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
  constructor({ store, onOrders }) {
    this.onOrders = onOrders;
    this.message = el("p", { class: "service-message", role: "status", "aria-live": "polite", "data-testid": "service-message" });
    const attempt = (work, isRefresh) => this.attempt(work, isRefresh);
    this.orders = new OrderList({ store, act: async (work) => {
      await attempt(work);
      await this.refresh();
    } });
    this.controls = new Controls({ attempt });
    this.replicas = new ReplicaList({ isShown: () => this.controlsAreShown(), attempt });
    this.controls.node.prepend(this.replicas.node);
    this.count = el("span", { class: "count" });
    this.toggle = button("", { class: "service-toggle", "data-testid": "service-toggle", "aria-controls": "service-body", onclick: () => this.open(!this.isOpen) },
      icon("service"), el("span", {}, "Settlement service"), this.count, icon("up", "turn"));
    const close = () => {
      this.open(false);
      this.toggle.focus();
    };
    this.node = el("section", { class: "service", "aria-label": "Settlement service", "data-testid": "service" },
      el("header", { class: "service-head" }, this.toggle, this.message),
      el("div", { class: "service-body", id: "service-body" }, iconButton("close", "Close the panel", { class: "service-close", onclick: close }), this.orders.node, this.controls.node));
    this.open(recall(OPEN_KEY, false));
  }

  async start() {
    // Once in any case, so that they are right as soon as they are seen.
    await this.attempt(() => Promise.all([this.controls.refresh(), this.controls.showMethods(), this.refresh()]));
    this.isStarted = true;
    this.replicas.start();
    setInterval(() => document.visibilityState === "visible" && this.refresh(), REFRESH_MS);
  }

  refresh() {
    return this.attempt(async () => {
      const { orders } = await service.orders();
      await this.orders.show(orders);
      this.count.textContent = orders.length ? `${orders.length} ${orders.length === 1 ? "order" : "orders"}` : "";
      this.onOrders(orders);
      if (this.controlsAreShown()) await this.controls.refresh();
    }, true);
  }

  // Says what went wrong. A refresh that works clears only what a refresh has said.
  async attempt(work, isRefresh = false) {
    try {
      await work();
      if (!isRefresh || this.isOffline) this.message.textContent = "";
      if (isRefresh) this.isOffline = false;
    } catch (error) {
      this.message.textContent = error.message;
      this.isOffline = isRefresh;
    }
  }

  open(isOpen) {
    this.isOpen = isOpen;
    this.node.classList.toggle("open", isOpen);
    this.toggle.setAttribute("aria-expanded", String(isOpen));
    remember(OPEN_KEY, isOpen);
    if (!isOpen || !this.isStarted) return;
    if (!this.replicas.node.hidden) this.replicas.refresh();
    this.refresh();
  }

  controlsAreShown() {
    return this.controls.node.offsetParent !== null;
  }
}
