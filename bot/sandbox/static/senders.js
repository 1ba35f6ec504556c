// Which sender an order of the service belongs to, and the bot's reference for it. The service doesn't know either.

import { telegram } from "./api.js";

// An agent's order isn't in any chat. Others are there once the bot has sent the invoice.
const LONGEST_WAIT_MS = 600_000;

export class Senders {
  constructor(store) {
    this.store = store;
    this.requests = new Map();
    this.asked = new Set();
  }

  async learn(orders) {
    const unknown = orders.filter((order) => !this.of(order) && (isNew(order) || !this.asked.has(order.id)));
    if (!unknown.length) return;
    const { payment_requests: requests } = await telegram.paymentRequests();
    this.requests = new Map(requests.map((request) => [request.payment, request]));
    for (const { id } of unknown) this.asked.add(id);
  }

  // -> { name, reference }, or null for an order that wasn't made in a chat.
  of(order) {
    const found = this.requests.get(order.invoiceBolt11?.toLowerCase() ?? `${order.depositToAddress?.toLowerCase()} ${order.satAmount}`);
    return found ? { name: this.store.people.get(found.chat_id)?.first_name ?? "", reference: found.reference } : null;
  }
}

export function isNew(order) {
  return Date.now() - Date.parse(order.createdAt) < LONGEST_WAIT_MS;
}
