// Reads a QR code in a picture, as a phone's camera would. It expects what the bot draws: nothing but the code, upright,
// with light around it, perhaps scaled or compressed. A photograph, or a code within another picture, can't be read.

import { decodeDots } from "./qrdata.js";

const FINDER_DOTS = 7;
// A pixel at the edge of a compressed code can be dark. A row or column of the code has more of them.
const LEAST_DARK = 0.05;

// image: ImageData. -> the text, or null if there is no code or it is damaged.
export function readQr({ data, width, height }) {
  const isDark = (x, y) => data[(y * width + x) * 4 + 3] > 127 && data[(y * width + x) * 4] + data[(y * width + x) * 4 + 1] + data[(y * width + x) * 4 + 2] < 384;
  const [left, right] = darkRange(width, height, isDark);
  const [top, bottom] = darkRange(height, width, (y, x) => isDark(x, y));
  if (right - left < FINDER_DOTS) return null;
  const size = dotsPerSide(left, right, (x) => isDark(x, top + Math.floor((bottom - top) / 100)));
  if (!size) return null;
  const dots = new Uint8Array(size * size);
  for (let at = 0; at < dots.length; at += 1) {
    const x = left + ((at % size) + 0.5) * ((right - left) / size);
    const y = top + (Math.floor(at / size) + 0.5) * ((bottom - top) / size);
    dots[at] = isDark(Math.floor(x), Math.floor(y)) ? 1 : 0;
  }
  return decodeDots(dots, size);
}

// Where the code begins and ends in one direction.
function darkRange(length, across, isDark) {
  const counts = Array.from({ length }, (_, at) => Array.from({ length: across }, (_, other) => isDark(at, other)).filter(Boolean).length);
  const least = Math.max(...counts) * LEAST_DARK;
  return [counts.findIndex((count) => count > least), counts.findLastIndex((count) => count > least) + 1];
}

// The upper edge of the finder pattern in the corner is seven dots. A side has 17 + 4 x version of them.
function dotsPerSide(left, right, isDark) {
  let end = left;
  while (end < right && isDark(end)) end += 1;
  const version = Math.round(((right - left) / ((end - left) / FINDER_DOTS) - 17) / 4);
  return version >= 1 && version <= 40 ? 17 + 4 * version : null;
}
