// The service's orders, newest first, each with its manual controls.

import { service } from "./api.js";
import { button, clock, el, replaceChildren } from "./dom.js";
import { rupiah, sats } from "./money.js";
import { isNew } from "./senders.js";

const STEPS = ["created", "paid", "converting", "sending rupiah", "sent"];
const STEP_OF = {
  IDLE: 0, NWC_CONNECTED: 0, QR_SCANNED: 0, ROUTE_SHOWN: 0, LN_INVOICE_PAID: 1, LN_SWAP_PENDING: 2,
  USDT_RECEIVED: 2, USDC_SWAPPED: 2, IDR_SETTLED: 3, COMPLETED: 4,
};
// Undocumented states do occur. They count as the middle of the sequence.
const UNKNOWN_STEP = 2;
const TERMINAL = new Set(["COMPLETED", "FAILED"]);

export function stepOf(order) {
  return STEP_OF[order.state] ?? UNKNOWN_STEP;
}

export class OrderList {
  // senders says whose an order is. onChange() is called after a button has changed something; onError(text) if the
  // service rejected it.
  constructor({ senders, onChange, onError }) {
    this.senders = senders;
    this.onChange = onChange;
    this.onError = onError;
    this.node = el("ul", { class: "orders", "aria-label": "Orders" });
    this.rows = new Map();
  }

  show(orders) {
    if (!orders.length) {
      this.rows.clear();
      replaceChildren(this.node, el("li", { class: "no-orders" }, "No orders yet. An order appears here when a sender confirms it."));
      return;
    }
    const rows = orders.map((order) => this.row(order));
    // Unchanged rows stay the same nodes, so that a focused button keeps its focus.
    if (rows.some((row, place) => this.node.children[place] !== row) || this.node.children.length !== rows.length) replaceChildren(this.node, rows);
  }

  row(order) {
    const sender = this.senders.of(order);
    const version = [order.state, order.updatedAt, order.paid, order.expired, sender?.reference, isNew(order)].join(" ");
    const known = this.rows.get(order.id);
    if (known?.version === version) return known.node;
    const node = el("li", { class: `order ${tone(order)}`, "data-testid": "order-row", "data-order-id": order.id, "data-state": order.state },
      facts(order, sender), progress(order), this.buttons(order, sender));
    if (known?.node.contains(document.activeElement)) queueMicrotask(() => node.querySelector("button")?.focus());
    this.rows.set(order.id, { version, node });
    return node;
  }

  buttons(order, sender) {
    if (TERMINAL.has(order.state)) return el("div", { class: "order-buttons" });
    const name = `order ${sender?.reference ?? order.id.slice(-6)}`;
    return el("div", { class: "order-buttons" },
      button("Next state", { class: "action small", "data-testid": "next-state", "aria-label": `Next state of ${name}`, onclick: () => this.act(() => service.advance(order.id)) }),
      button("Fail", { class: "action small danger", "data-testid": "fail", "aria-label": `Fail ${name}`, onclick: () => this.act(() => service.fail(order.id)) }));
  }

  async act(work) {
    try {
      await work();
      this.onError("");
    } catch (error) {
      this.onError(error.message);
    }
    this.onChange();
  }
}

// Whose order it is and Kirim's reference for it, the recipient, and what the service calls it.
function facts(order, sender) {
  const where = [order.partnerPayoutBankName, ending(order.payoutRecipient)].filter(Boolean).join(" ");
  const whose = sender
    ? el("span", { class: "order-whose", "data-testid": "order-whose" }, el("span", {}, sender.name), " ", el("code", {}, sender.reference))
    : el("span", { class: "order-whose", "data-testid": "order-whose" }, isNew(order) ? "New order" : "Not from a chat");
  return el("div", { class: "order-facts" },
    whose, el("strong", {}, rupiah(order.idrAmount)), el("span", { class: "order-where" }, where),
    el("span", { class: "order-small" }, `${sats(order.satAmount)} · `, el("code", { title: order.id }, `…${order.id.slice(-6)}`), " · ", clock(Date.parse(order.createdAt) / 1000)));
}

// The documented service calls an expired order FAILED, although nothing has failed.
function isExpired(order) {
  return order.expired && !order.paid;
}

function tone(order) {
  if (isExpired(order)) return "expired";
  if (order.state === "FAILED") return "failed";
  if (order.state === "COMPLETED") return "completed";
  return stepOf(order) === 0 ? "waiting" : "under-way";
}

function progress(order) {
  const failed = order.state === "FAILED";
  const step = failed ? (order.paid ? 1 : 0) : stepOf(order);
  const marks = STEPS.map((_, place) => el("i", { class: place <= step ? "reached" : null }));
  return el("div", { class: "progress" },
    el("span", { class: "marks", role: "img", "aria-label": `Step ${step + 1} of ${STEPS.length}` }, marks),
    el("span", { class: "state" }, el("span", { class: "state-words", "data-testid": "order-words" }, inWords(order, step)), el("code", { "data-testid": "order-state" }, order.state)));
}

function inWords(order, step) {
  if (isExpired(order)) return "expired unpaid";
  if (order.state !== "FAILED") return STEPS[step];
  const wasInTime = order.reached.some((state) => !TERMINAL.has(state) && stepOf({ state }) > 0);
  return order.paid && !wasInTime ? "paid too late" : "failed";
}

// Recipients' numbers are personal data, even pretend ones. The end is enough to tell rows apart.
function ending(recipient) {
  return recipient ? `··${String(recipient).slice(-4)}` : "";
}
