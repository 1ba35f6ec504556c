// How the settlement sandbox behaves: its speed, its prices and invoices, and the faults that it simulates.
// Also which messages count towards Telegram's limit of 30 a second.

import { service, telegram } from "./api.js";
import { button, el, replaceChildren } from "./dom.js";

const ORDERS = "/v1/offramp/orders";

export const FAULTS = [
  { id: "stuck", label: "Stuck", about: "Paid orders don’t move on. After 90 s the bot reports them.", setting: "stuck" },
  { id: "down", label: "Service down", about: "Every call gets a 503.", fault: { fault: "503" } },
  { id: "lost-before", label: "No answer", about: "The next order isn’t created, and the connection drops.", fault: { fault: "drop_before", method: "POST", path: ORDERS, times: 1 } },
  { id: "lost-after", label: "No answer, but created", about: "The next order is created, but the connection drops.", fault: { fault: "drop_after", method: "POST", path: ORDERS, times: 1 } },
  { id: "error-after", label: "500, but created", about: "The next order is created, but the answer is an error.", fault: { fault: "500_after", method: "POST", path: ORDERS, times: 1 } },
  { id: "html", label: "HTML answer", about: "The next order is answered with a web page.", fault: { fault: "html", method: "POST", path: ORDERS, times: 1 } },
  { id: "empty", label: "Empty list", about: "The list of orders is empty.", fault: { fault: "empty_list", method: "GET", path: ORDERS } },
  { id: "busy", label: "Too many calls", about: "The next three calls get a 429 (try again in 5 s).", fault: { fault: "429", times: 3, retryAfter: 5 } },
  { id: "slow", label: "Slow", about: "Every call takes 3 s longer.", fault: { fault: "delay", seconds: 3 } },
];

const COMPARED = ["fault", "method", "path", "retryAfter"];

export class FaultSwitches {
  // attempt(work) runs a request, shows its error and refreshes the panel.
  constructor({ attempt }) {
    this.switches = FAULTS.map((fault) => ({ ...fault, node: button("", {
      class: "fault", "data-testid": `fault-${fault.id}`, "aria-pressed": "false", onclick: () => attempt(() => this.press(fault)),
    }, el("strong", {}, fault.label), " ", el("span", {}, fault.about)) }));
    this.clear = button("Clear all", { class: "action small quiet", "data-testid": "clear-faults", onclick: () => attempt(() => this.clearAll()) });
    this.node = el("fieldset", { class: "choice" }, el("legend", {}, "Simulate a fault ", el("small", {}, "until you turn it off, or it has happened")),
      el("div", { class: "faults" }, this.switches.map(({ node }) => node), this.clear));
  }

  // faults: the service's list of them; settings: its settings.
  show(faults, settings) {
    this.waiting = faults.filter(({ times }) => times !== 0);
    this.settings = settings;
    for (const fault of this.switches) fault.node.setAttribute("aria-pressed", String(this.isOn(fault)));
    this.clear.disabled = !this.waiting.length && !FAULTS.some((fault) => this.isOn(fault));
  }

  isOn({ fault, setting }) {
    return setting ? this.settings[setting] : this.same(fault).length > 0;
  }

  same(fault) {
    return this.waiting.filter((one) => COMPARED.every((name) => (fault[name] ?? null) === (one[name] ?? null)));
  }

  press(pressed) {
    const { fault, setting } = pressed;
    if (setting) return service.change({ [setting]: !this.isOn(pressed) });
    return this.isOn(pressed) ? Promise.all(this.same(fault).map(({ id }) => service.removeFault(id))) : service.addFault(fault);
  }

  async clearAll() {
    await service.clearFaults();
    await service.change(Object.fromEntries(FAULTS.filter(({ setting }) => setting).map(({ setting }) => [setting, false])));
  }
}

const SPEEDS = [["Manual", null], ["1 s", 1], ["3 s", 3], ["10 s", 10]];
const LOCKED = [["As quoted", 0], ["2% worse", 2], ["10% worse", 10]];
const FEES = [["In the quote", false], ["Added", true]];
const INVOICES = [["Valid", null], ["Wrong amount", "amount"], ["Wrong network", "network"], ["Already expired", "expired"]];
const LIFETIMES = [["1 hour", 3600], ["1 minute", 60], ["15 s", 15], ["None of its own", null]];
const PROFILES = [["Documented", "documented"], ["Live", "live"]];
const TOTALS = [["All", "all"], ["Only bulk", "bulk"], ["No limits", "off"]];

export class Controls {
  // attempt(work): see service.js.
  constructor({ attempt }) {
    this.change = (work) => attempt(async () => {
      await work();
      await this.refresh();
    });
    this.choices = [
      this.choice("Speed", "from one state to the next, after payment", "speedSeconds", SPEEDS),
      this.choice("Locked price", "compared with the quote", "lockedPricePercent", LOCKED),
      this.choice("Fee of Rp5,000", "in the quote, or added when the price is locked", "feeOnTop", FEES),
      this.choice("Invoice lifetime", "until it expires, or none, as in the service’s public source", "invoiceExpirySeconds", LIFETIMES),
      this.choice("New invoices", "valid, or with a fault", "wrongInvoice", INVOICES),
      this.choice("Behaves like", "the API document, or the live service", "profile", PROFILES),
      this.choice("Telegram counts", "which messages, up to 30 a second", "telegramLimit", TOTALS, changeTotal),
    ];
    this.faults = new FaultSwitches({ attempt: this.change });
    this.methods = el("select", { "aria-label": "Payout method", "data-testid": "vanish-method" });
    const changeMethods = (work) => this.change(async () => this.showMethods(await work()));
    const vanish = button("Remove", { class: "action small", "data-testid": "vanish", onclick: () => changeMethods(() => service.dropMethod(this.methods.value)) });
    const restore = button("Restore all", { class: "action small quiet", onclick: () => changeMethods(service.restoreMethods) });
    this.node = el("div", { class: "controls" },
      el("div", { class: "choices" }, this.choices.map(({ node }) => node)),
      this.faults.node,
      el("fieldset", { class: "choice" }, el("legend", {}, "Remove a payout method ", el("small", {}, "from the live list of banks and e-wallets")), el("div", { class: "vanish" }, this.methods, vanish, restore)));
  }

  async refresh() {
    const [settings, { faults }, limits] = await Promise.all([service.settings(), service.faults(), telegram.limits()]);
    const telegramLimit = limits.enforce ? limits.total_applies_to : "off";
    for (const { show } of this.choices) show({ ...settings, telegramLimit });
    this.faults.show(faults, settings);
  }

  async showMethods() {
    const { methods } = await service.methods();
    const chosen = this.methods.value;
    replaceChildren(this.methods, methods.map((method) => el("option", { value: method.bankCode, selected: method.bankCode === chosen }, method.bankName)));
  }

  // A few exclusive values of one setting, as radio buttons.
  choice(title, about, setting, options, change = service.change) {
    const inputs = options.map(([label, value]) => el("input", {
      type: "radio", name: setting, "aria-label": `${title}: ${label}`, "data-testid": `${setting}-${value ?? "none"}`,
      onchange: () => this.change(() => change({ [setting]: value })),
    }));
    const labels = options.map(([label], place) => el("label", {}, inputs[place], el("span", {}, label)));
    const node = el("fieldset", { class: "choice" }, el("legend", {}, title, " ", el("small", {}, about)), el("div", { class: "segments" }, labels));
    return { node, show: (settings) => options.forEach(([, value], place) => { inputs[place].checked = settings[setting] === value; }) };
  }
}

function changeTotal({ telegramLimit: total }) {
  return telegram.changeLimits(total === "off" ? { enforce: false } : { enforce: true, total_applies_to: total });
}
