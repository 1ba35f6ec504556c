// Formats of amounts and remaining times.

import { grouped } from "./dom.js";

export function sats(amount, locale) {
  return `${grouped(amount, locale)} sats`;
}

export function rupiah(amount, locale) {
  return `Rp${grouped(amount, locale)}`;
}

// Converts whole units to exact decimal text: token amounts are too large for floating point, so they are formatted as text.
export function tokens(units, decimals, locale = "en-US") {
  const digits = String(units).padStart(decimals + 1, "0");
  return new Intl.NumberFormat(locale, { maximumFractionDigits: decimals }).format(`${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`);
}

export function remaining(seconds) {
  const left = Math.max(0, Math.floor(seconds));
  const pad = (value) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(left / 3600), Math.floor(left / 60) % 60];
  return hours ? `${hours}:${pad(minutes)}:${pad(left % 60)}` : `${minutes}:${pad(left % 60)}`;
}
