// The service's orders, newest first, each with its sender and its manual controls.

import { service, telegram } from "./api.js";
import { button, clock, el, update } from "./dom.js";
import { rupiah, sats } from "./money.js";

const STEPS = ["created", "paid", "converting", "sending rupiah", "sent"];
const STEP_OF = {
  IDLE: 0, NWC_CONNECTED: 0, QR_SCANNED: 0, ROUTE_SHOWN: 0, LN_INVOICE_PAID: 1, LN_SWAP_PENDING: 2,
  USDT_RECEIVED: 2, USDC_SWAPPED: 2, IDR_SETTLED: 3, COMPLETED: 4,
};
// Undocumented states do occur. They count as the middle of the sequence.
const UNKNOWN_STEP = 2;
const TERMINAL = new Set(["COMPLETED", "FAILED"]);
// An agent's order isn't in any chat. Others are there once the bot has sent the invoice.
const NEW_MS = 600_000;

function stepOf(order) {
  return STEP_OF[order.state] ?? UNKNOWN_STEP;
}

export class OrderList {
  // act(work) runs what a button does, and refreshes the list.
  constructor({ store, act }) {
    Object.assign(this, { store, act, requests: new Map(), asked: new Set() });
    this.node = el("ul", { class: "orders", "aria-label": "Orders" });
  }

  async show(orders) {
    await this.learn(orders);
    const none = { key: "none", shown: "", make: () => el("li", { class: "no-orders" }, "No orders yet. An order appears here when a sender confirms it.") };
    const rows = orders.map((order) => {
      const { state, updatedAt, paid, expired } = order;
      const request = this.requestOf(order);
      return { key: order.id, shown: [state, updatedAt, paid, expired, request?.reference, isNew(order)], make: () => this.row(order, request) };
    });
    update(this.node, orders.length ? rows : [none]);
  }

  // The service knows neither the sender nor the bot's reference. The chats do.
  async learn(orders) {
    const unknown = orders.filter((order) => !this.requestOf(order) && (isNew(order) || !this.asked.has(order.id)));
    if (!unknown.length) return;
    const { payment_requests: requests } = await telegram.paymentRequests();
    this.requests = new Map(requests.map((request) => [request.payment, request]));
    for (const { id } of unknown) this.asked.add(id);
  }

  requestOf(order) {
    return this.requests.get(order.invoiceBolt11?.toLowerCase() ?? `${order.depositToAddress?.toLowerCase()} ${order.satAmount}`);
  }

  // Whose order it is and Kirim's reference for it, the recipient, what the service calls it, and how far it is.
  row(order, request) {
    const whose = request ? [el("span", {}, this.store.people.get(request.chat_id)?.first_name ?? ""), " ", el("code", {}, request.reference)] : [isNew(order) ? "New order" : "Not from a chat"];
    const step = order.state === "FAILED" ? Number(order.paid) : stepOf(order);
    return el("li", { class: `order ${tone(order)}`, "data-testid": "order-row", "data-order-id": order.id, "data-state": order.state },
      el("div", { class: "order-facts" },
        el("span", { class: "order-whose", "data-testid": "order-whose" }, whose), el("strong", {}, rupiah(order.idrAmount)),
        el("span", { class: "order-where" }, [order.partnerPayoutBankName, ending(order.payoutRecipient)].filter(Boolean).join(" ")),
        el("span", { class: "order-small" }, `${sats(order.satAmount)} · `, el("code", { title: order.id }, `…${order.id.slice(-6)}`), " · ", clock(Date.parse(order.createdAt) / 1000))),
      el("div", { class: "progress" },
        el("span", { class: "marks", role: "img", "aria-label": `Step ${step + 1} of ${STEPS.length}` }, STEPS.map((_, place) => el("i", { class: place <= step ? "reached" : null }))),
        el("span", { class: "state" }, el("span", { class: "state-words", "data-testid": "order-words" }, inWords(order, step)), el("code", { "data-testid": "order-state" }, order.state))),
      el("div", { class: "order-buttons" }, TERMINAL.has(order.state) ? [] : this.buttons(order, `order ${request?.reference ?? order.id.slice(-6)}`)));
  }

  buttons({ id }, name) {
    return [button("Next state", { class: "action small", "data-testid": "next-state", "aria-label": `Next state of ${name}`, onclick: () => this.act(() => service.advance(id)) }),
      button("Fail", { class: "action small danger", "data-testid": "fail", "aria-label": `Fail ${name}`, onclick: () => this.act(() => service.fail(id)) })];
  }
}

function isNew(order) {
  return Date.now() - Date.parse(order.createdAt) < NEW_MS;
}

// The documented service calls an expired order FAILED, although nothing has failed.
function isExpired(order) {
  return order.expired && !order.paid;
}

function tone(order) {
  if (isExpired(order)) return "expired";
  return { FAILED: "failed", COMPLETED: "completed" }[order.state] ?? (stepOf(order) === 0 ? "waiting" : "under-way");
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
