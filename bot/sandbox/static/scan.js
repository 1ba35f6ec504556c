// Scanning: what a phone's camera would read from the newest QR picture in the chat.

import { telegram } from "./api.js";
import { plainText } from "./message.js";
import { readQr } from "./qr.js";

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
  return (await byBrowser(image)) ?? readQr(pixels(image));
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

// Some browsers have their own reader. Otherwise ours is used.
async function byBrowser(image) {
  if (!("BarcodeDetector" in globalThis)) return null;
  try {
    const found = await new globalThis.BarcodeDetector({ formats: ["qr_code"] }).detect(image);
    return found[0]?.rawValue ?? null;
  } catch {
    return null;
  }
}

function pixels(image) {
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, image.width, image.height);
}
