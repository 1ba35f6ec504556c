// What a wallet can pay: a Lightning invoice, or a token transfer on an EVM chain. Both have the same interface.

import { service, telegram } from "./api.js";
import { decodeInvoice } from "./bolt11.js";
import { plainText } from "./message.js";
import { sats, tokens } from "./money.js";
import { readQr } from "./qr.js";
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

const INVOICE = /(?:lightning:)?(ln(?:bcrt|bc|tbs|tb)[0-9]*[munp]?1[02-9ac-hj-np-z]{100,})/i;
const TRANSFER = /ethereum:0x[0-9a-f]{40}(?:@\d+)?(?:\/transfer\?[\w=&%.]+)?/i;

export function findPayable(text) {
  const invoice = INVOICE.exec(text);
  if (invoice) return { kind: "invoice", text: invoice[1] };
  const transfer = TRANSFER.exec(text);
  return transfer ? { kind: "transfer", text: transfer[0] } : null;
}

// What each picture's QR code says. A file never changes.
const readings = new Map();

// Newest message first. how is "picture" if the QR code was read, "text" if only the text had an invoice,
// so that the wallet can say which; until is the time that the message names, in Unix seconds.
// -> { kind, text, how, until } or null if there is nothing to pay.
export async function scan(messages) {
  for (const message of messages.toReversed()) {
    const seen = message.photo ? await read(message.photo.at(-1).file_id) : null;
    const inPicture = findPayable(seen ?? "");
    if (inPicture) return { ...inPicture, how: "picture", until: lastTime(message) };
    const inText = message.from?.is_bot ? findPayable(allText(message)) : null;
    if (inText) return { ...inText, how: "text", until: lastTime(message) };
  }
  return null;
}

// The newest thing to pay that the bot has sent, or null. Reads a picture only if the text has nothing.
export async function newestPayable(messages) {
  for (const message of messages.filter(({ from }) => from?.is_bot).reverse()) {
    const found = findPayable(allText(message)) ?? (message.photo && findPayable((await read(message.photo.at(-1).file_id)) ?? ""));
    if (found) return { ...found, until: lastTime(message) };
  }
  return null;
}

function lastTime(message) {
  return (message.entities ?? message.caption_entities)?.findLast(({ type }) => type === "date_time")?.unix_time;
}

function allText(message) {
  const buttons = message.reply_markup?.inline_keyboard?.flat() ?? [];
  return [plainText(message), ...buttons.map((button) => button.copy_text?.text ?? "")].join("\n");
}

function read(fileId) {
  if (!readings.has(fileId)) readings.set(fileId, readPicture(telegram.fileUrl(fileId)));
  return readings.get(fileId);
}

async function readPicture(address) {
  const image = await fetchImage(address);
  if (!image) return null;
  return readQr(pixels(image));
}

async function fetchImage(address) {
  try {
    const response = await fetch(address);
    return response.ok ? await createImageBitmap(await response.blob()) : null;
  } catch {
    // The file is gone or isn't a picture. The text beside it can still be read.
    return null;
  }
}

function pixels(image) {
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, image.width, image.height);
}
