// What a wallet can pay: a Lightning invoice, or a token transfer on an EVM chain. Both have the same interface.

import { service } from "./api.js";
import { decodeInvoice } from "./bolt11.js";
import { sats, tokens } from "./money.js";
import { TOKENS } from "./tokens.js";

const SANDBOX_NETWORK = "Regtest";
const SATS_DECIMALS = 8;

// words: the result of wordsFor; until: when the message with it says that it ends. A transfer has no end of its own.
// -> { kind, id, amount, note, memo, expiresAt (Unix seconds or null), warning, sats,
// isFor(order of the service), pay(late), expire() }
export function payableFrom(text, words, until) {
  return /^ethereum:/i.test(text.trim()) ? transfer(text.trim(), words, until) : invoice(text, words);
}

function invoice(text, { wallet, locale }) {
  const read = decodeInvoice(text);
  const foreign = read.network !== SANDBOX_NETWORK;
  return {
    kind: "invoice", id: read.bolt11, amount: read.sats === null ? wallet.anyAmount : sats(read.sats, locale), sats: read.sats ?? 0, memo: read.memo,
    note: `Lightning · ${read.network}`, expiresAt: read.expiresAt,
    warning: foreign ? wallet.otherNetwork(read.network, SANDBOX_NETWORK) : "",
    isFor: (order) => order.invoiceBolt11 === read.bolt11,
    pay: (late) => service.pay({ bolt11: read.bolt11, late }),
    expire: async () => service.expire((await service.orderOf(read.bolt11)).id),
  };
}

// ERC-681: ethereum:<token>@<chain>/transfer?address=<to>&uint256=<units>
function transfer(text, { wallet, locale }, until = null) {
  const parts = /^ethereum:(0x[0-9a-f]{40})@(\d+)\/transfer\?(.+)$/i.exec(text);
  const token = TOKENS.find((one) => String(one.chainId) === parts?.[2] && one.contract.toLowerCase() === parts[1].toLowerCase());
  if (!token) throw new Error(wallet.unknownToken);
  const asked = new URLSearchParams(parts[3]);
  const units = BigInt(asked.get("uint256") ?? "0");
  const worth = Number(units / 10n ** BigInt(token.decimals - SATS_DECIMALS));
  return {
    kind: "transfer", id: text, amount: `${tokens(units, token.decimals, locale)} ${token.symbol}`, sats: worth, memo: "",
    note: `${token.chain} · ${wallet.to(shortened(asked.get("address") ?? ""))}`, expiresAt: until, warning: "",
    isFor: (order) => isDepositFor(order, token.channel, worth),
    pay: async () => service.pay({ orderId: (await depositOrder(token.channel, worth, wallet)).id }),
  };
}

// Deposits have no order number. The service also identifies them by channel and amount.
async function depositOrder(channel, worth, wallet) {
  const { orders } = await service.orders();
  const order = orders.find((one) => isDepositFor(one, channel, worth) && !one.paid);
  if (!order) throw new Error(wallet.noSuchDeposit);
  return order;
}

function isDepositFor(order, channel, worth) {
  return order.depositChannel === channel && Number(order.satAmount) === worth;
}

function shortened(address) {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}
