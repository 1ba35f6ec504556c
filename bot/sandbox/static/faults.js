// Faults that the settlement sandbox simulates with one press, each as a switch that says what it does.

import { service } from "./api.js";
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
    this.attempt = attempt;
    this.switches = new Map(FAULTS.map((fault) => [fault.id, this.toggle(fault)]));
    this.clear = button("Clear all", { class: "action small quiet", "data-testid": "clear-faults", onclick: () => this.attempt(() => this.clearAll()) });
    this.node = el("fieldset", { class: "choice" }, el("legend", {}, "Simulate a fault ", el("small", {}, "until you turn it off, or it has happened")),
      el("div", { class: "faults" }, [...this.switches.values()], this.clear));
  }

  toggle({ id, label, about }) {
    return button("", { class: "fault", "data-testid": `fault-${id}`, "aria-pressed": "false", onclick: () => this.attempt(() => this.press(id)) },
      el("strong", {}, label), " ", el("span", {}, about));
  }

  // armed: the service's list of faults; settings: its settings.
  show(armed, settings) {
    this.armed = armed;
    this.settings = settings;
    for (const fault of FAULTS) this.switches.get(fault.id).setAttribute("aria-pressed", String(this.isOn(fault)));
    this.clear.disabled = !FAULTS.some((fault) => this.isOn(fault)) && !armed.some(isWaiting);
  }

  isOn({ fault, setting }) {
    return setting ? this.settings[setting] : this.waiting(fault).length > 0;
  }

  waiting(fault) {
    return this.armed.filter((one) => isWaiting(one) && COMPARED.every((name) => (fault[name] ?? null) === (one[name] ?? null)));
  }

  async press(id) {
    const pressed = FAULTS.find((one) => one.id === id);
    const { fault, setting } = pressed;
    if (setting) await service.change({ [setting]: !this.isOn(pressed) });
    else if (!this.isOn(pressed)) await service.addFault(fault);
    else await Promise.all(this.waiting(fault).map((one) => service.removeFault(one.id)));
  }

  async clearAll() {
    await service.clearFaults();
    const off = FAULTS.filter(({ setting }) => setting).map(({ setting }) => [setting, false]);
    await service.change(Object.fromEntries(off));
  }
}

function isWaiting(fault) {
  return fault.times !== 0;
}
