// How the settlement sandbox behaves: its speed, its prices and invoices, and the faults that it simulates.
// Also which messages count towards Telegram's limit of 30 a second.

import { service, telegram } from "./api.js";
import { button, el, replaceChildren } from "./dom.js";
import { FaultSwitches } from "./faults.js";

const SPEEDS = [["Manual", null], ["1 s", 1], ["3 s", 3], ["10 s", 10]];
const LOCKED = [["As quoted", 0], ["2% worse", 2], ["10% worse", 10]];
const FEES = [["In the quote", false], ["Added", true]];
const INVOICES = [["Valid", null], ["Wrong amount", "amount"], ["Wrong network", "network"], ["Already expired", "expired"]];
const LIFETIMES = [["1 hour", 3600], ["1 minute", 60], ["15 s", 15], ["None of its own", null]];
const PROFILES = [["Documented", "documented"], ["Live", "live"]];
const TOTALS = [["All", "all"], ["Only bulk", "bulk"], ["No limits", "off"]];

export class Controls {
  constructor({ onError }) {
    this.onError = onError;
    this.choices = [
      new Choice("Speed", "from one state to the next, after payment", "speedSeconds", SPEEDS, this),
      new Choice("Locked price", "compared with the quote", "lockedPricePercent", LOCKED, this),
      new Choice("Fee of Rp5,000", "in the quote, or added when the price is locked", "feeOnTop", FEES, this),
      new Choice("Invoice lifetime", "until it expires, or none, as in the service’s public source", "invoiceExpirySeconds", LIFETIMES, this),
      new Choice("New invoices", "valid, or with a fault", "wrongInvoice", INVOICES, this),
      new Choice("Behaves like", "the API document, or the live service", "profile", PROFILES, this),
      new Choice("Telegram counts", "which messages, up to 30 a second", "telegramLimit", TOTALS, this, changeTotal),
    ];
    this.faults = new FaultSwitches({ attempt: (work) => this.attempt(work) });
    this.methods = el("select", { "aria-label": "Payout method", "data-testid": "vanish-method" });
    const vanish = button("Remove", { class: "action small", "data-testid": "vanish", onclick: () => this.changeMethods(() => service.dropMethod(this.methods.value)) });
    const restore = button("Restore all", { class: "action small quiet", onclick: () => this.changeMethods(service.restoreMethods) });
    this.node = el("div", { class: "controls" },
      el("div", { class: "choices" }, this.choices.map((choice) => choice.node)),
      this.faults.node,
      el("fieldset", { class: "choice" }, el("legend", {}, "Remove a payout method ", el("small", {}, "from the live list of banks and e-wallets")), el("div", { class: "vanish" }, this.methods, vanish, restore)));
  }

  async refresh() {
    const [settings, { faults }, limits] = await Promise.all([service.settings(), service.faults(), telegram.limits()]);
    const telegramLimit = limits.enforce ? limits.total_applies_to : "off";
    for (const choice of this.choices) choice.show({ ...settings, telegramLimit });
    this.faults.show(faults, settings);
  }

  async refreshMethods() {
    const { methods } = await service.methods();
    const chosen = this.methods.value;
    replaceChildren(this.methods, methods.map((method) => el("option", { value: method.bankCode }, method.bankName)));
    if (methods.some(({ bankCode }) => bankCode === chosen)) this.methods.value = chosen;
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

function changeTotal({ telegramLimit: total }) {
  return telegram.changeLimits(total === "off" ? { enforce: false } : { enforce: true, total_applies_to: total });
}

// A few exclusive values of one setting, as radio buttons.
class Choice {
  constructor(title, about, setting, options, controls, change = service.change) {
    this.setting = setting;
    this.options = options;
    this.inputs = options.map(([label, value]) => el("input", {
      type: "radio", name: setting, "aria-label": `${title}: ${label}`, "data-testid": `${setting}-${value ?? "none"}`,
      onchange: () => controls.attempt(() => change({ [setting]: value })),
    }));
    const labels = options.map(([label], place) => el("label", {}, this.inputs[place], el("span", {}, label)));
    this.node = el("fieldset", { class: "choice" }, el("legend", {}, title, " ", el("small", {}, about)), el("div", { class: "segments" }, labels));
  }

  show(settings) {
    this.options.forEach(([, value], place) => { this.inputs[place].checked = settings[this.setting] === value; });
  }
}
