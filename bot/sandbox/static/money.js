// Amounts and waiting times as people read them.

import { grouped } from "./dom.js";

export function sats(amount) {
  return amount === null ? "any amount" : `${grouped(amount)} sats`;
}

export function rupiah(amount) {
  return `Rp ${Number(amount).toLocaleString("id-ID")}`;
}

// Whole units in, decimal text out; exact, because token amounts exceed what floating point holds.
export function tokens(units, decimals) {
  const digits = BigInt(units).toString().padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return digits.slice(0, -decimals) + (fraction ? `.${fraction}` : "");
}

export function remaining(seconds) {
  const left = Math.max(0, Math.floor(seconds));
  const pad = (value) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(left / 3600), Math.floor(left / 60) % 60];
  return hours ? `${hours}:${pad(minutes)}:${pad(left % 60)}` : `${minutes}:${pad(left % 60)}`;
}
