// The weather of the settlement sandbox: how fast it works, what its prices and invoices are like, what goes wrong.

import { service } from "./api.js";
import { button, el, replaceChildren } from "./dom.js";
import { FAULTS, isArmed } from "./faults.js";

const SPEEDS = [["By hand", null], ["1 s", 1], ["3 s", 3], ["10 s", 10]];
const LOCKED = [["As quoted", 0], ["+2 % worse", 2], ["+10 % worse", 10]];
const INVOICES = [["Right", null], ["Wrong amount", "amount"], ["Wrong network", "network"], ["Already expired", "expired"]];
const LIFETIMES = [["1 hour", 3600], ["1 minute", 60], ["15 s", 15]];
const PROFILES = [["Documented", "documented"], ["Live", "live"]];

export class Controls {
  constructor({ onError }) {
    this.onError = onError;
    this.choices = [
      new Choice("Speed", "between states, once paid", "speedSeconds", SPEEDS, this),
      new Choice("Locked price", "against the quote", "lockedPricePercent", LOCKED, this),
      new Choice("Invoices last", "until they expire", "invoiceExpirySeconds", LIFETIMES, this),
      new Choice("New invoices", "what is wrong with them", "wrongInvoice", INVOICES, this),
      new Choice("Behaves as", "the document, or the live service", "profile", PROFILES, this),
    ];
    this.faults = el("div", { class: "faults", role: "group", "aria-label": "Faults" });
    this.methods = el("select", { "aria-label": "Payout method", "data-testid": "vanish-method" });
    const vanish = button("Vanish", { class: "action small", "data-testid": "vanish", title: "Take this payout method off the live list", onclick: () => this.changeMethods(() => service.dropMethod(this.methods.value)) });
    const restore = button("Bring all back", { class: "action small quiet", onclick: () => this.changeMethods(service.restoreMethods) });
    this.node = el("div", { class: "controls" },
      el("div", { class: "choices" }, this.choices.map((choice) => choice.node)),
      el("fieldset", { class: "choice" }, el("legend", {}, "Something goes wrong"), this.faults),
      el("fieldset", { class: "choice" }, el("legend", {}, "A payout method vanishes"), el("div", { class: "vanish" }, this.methods, vanish, restore)));
  }

  async refresh() {
    const [settings, { faults }] = await Promise.all([service.settings(), service.faults()]);
    for (const choice of this.choices) choice.show(settings);
    this.drawFaults(faults);
  }

  async refreshMethods() {
    const { methods } = await service.methods();
    const chosen = this.methods.value;
    replaceChildren(this.methods, methods.map((method) => el("option", { value: method.bankCode }, method.bankName)));
    if (methods.some(({ bankCode }) => bankCode === chosen)) this.methods.value = chosen;
  }

  drawFaults(armed) {
    const focused = document.activeElement?.dataset?.fault;
    const switches = FAULTS.map(({ id, label, about, fault }) => button(label, {
      class: "chip", "data-testid": `fault-${id}`, "data-fault": id, title: about, "aria-pressed": String(isArmed(fault, armed)),
      onclick: () => this.attempt(() => service.addFault(fault)),
    }));
    const waiting = armed.some((fault) => fault.times !== 0);
    const clear = button("Clear all", { class: "chip clear", "data-testid": "clear-faults", "data-fault": "clear", disabled: !waiting, onclick: () => this.attempt(service.clearFaults) });
    replaceChildren(this.faults, switches, clear);
    if (focused) this.faults.querySelector(`[data-fault="${focused}"]`)?.focus();
  }

  async changeMethods(work) {
    await this.attempt(work);
    await this.refreshMethods();
  }

  async attempt(work) {
    try {
      await work();
      this.onError("");
      await this.refresh();
    } catch (error) {
      this.onError(error.message);
    }
  }
}

// A few exclusive values of one setting, as a row of radio buttons.
class Choice {
  constructor(title, about, setting, options, controls) {
    this.setting = setting;
    this.options = options;
    this.inputs = options.map(([label, value]) => el("input", {
      type: "radio", name: setting, "aria-label": `${title}: ${label}`, "data-testid": `${setting}-${value ?? "none"}`,
      onchange: () => controls.attempt(() => service.change({ [setting]: value })),
    }));
    const labels = options.map(([label], place) => el("label", {}, this.inputs[place], el("span", {}, label)));
    this.node = el("fieldset", { class: "choice" }, el("legend", {}, title, " ", el("small", {}, about)), el("div", { class: "segments" }, labels));
  }

  show(settings) {
    this.options.forEach(([, value], place) => { this.inputs[place].checked = settings[this.setting] === value; });
  }
}
