// Converts the dots of a QR code into text (ISO/IEC 18004). Damage is detected but not repaired: the pictures
// come straight from the chat, and a wallet must not guess an invoice.

import { BLOCKS, CHECK_WORDS, exponent, logarithm } from "./qrtables.js";

const LEVELS = { 1: 0, 0: 1, 3: 2, 2: 3 };
const ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";
const FORMAT_MASK = 0x5412;
const MASKS = [
  (row, column) => (row + column) % 2, (row) => row % 2, (row, column) => column % 3, (row, column) => (row + column) % 3,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2, (row, column) => ((row * column) % 2) + ((row * column) % 3),
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2, (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2,
];

// dots: 1 for dark, row by row; size: dots per side. -> text or null.
export function decodeDots(dots, size) {
  const version = (size - 17) / 4;
  const { level, mask } = format(dots, size);
  const words = codewords(dots, size, version, MASKS[mask]);
  const data = blocks(words, version, level);
  return data ? readSegments(data, version) : null;
}

function format(dots, size) {
  let bits = 0;
  const read = (row, column) => { bits = (bits << 1) | dots[row * size + column]; };
  for (let column = 0; column < 6; column += 1) read(8, column);
  read(8, 7);
  read(8, 8);
  read(7, 8);
  for (let row = 5; row >= 0; row -= 1) read(row, 8);
  const plain = (bits ^ FORMAT_MASK) >> 10;
  return { level: LEVELS[plain >> 3], mask: plain & 7 };
}

// Columns are read in pairs, from the right, alternately up and down, without the function patterns.
function codewords(dots, size, version, mask) {
  const reserved = reservedDots(size, version);
  const words = [];
  let held = 0;
  let bits = 0;
  let upward = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right -= 1;
    for (let step = 0; step < size; step += 1) {
      const row = upward ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (reserved[row * size + column]) continue;
        held = (held << 1) | (dots[row * size + column] ^ (mask(row, column) === 0 ? 1 : 0));
        bits += 1;
        if (bits === 8) {
          words.push(held);
          held = 0;
          bits = 0;
        }
      }
    }
    upward = !upward;
  }
  return words;
}

function reservedDots(size, version) {
  const reserved = new Uint8Array(size * size);
  const fill = (top, left, height, width) => {
    for (let row = top; row < top + height; row += 1) reserved.fill(1, row * size + left, row * size + left + width);
  };
  fill(0, 0, 9, 9);
  fill(0, size - 8, 9, 8);
  fill(size - 8, 0, 8, 9);
  fill(6, 0, 1, size);
  fill(0, 6, size, 1);
  const centres = alignmentCentres(version, size);
  const last = centres.length - 1;
  centres.forEach((row, i) => centres.forEach((column, j) => {
    const onFinder = (i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0);
    if (!onFinder) fill(row - 2, column - 2, 5, 5);
  }));
  if (version >= 7) {
    fill(0, size - 11, 6, 3);
    fill(size - 11, 0, 3, 6);
  }
  return reserved;
}

function alignmentCentres(version, size) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = version === 32 ? 26 : Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, place) => size - 7 - step * (count - 2 - place))];
}

// The codewords of all blocks are interleaved. The first blocks can have one codeword less than the others.
function blocks(words, version, level) {
  const count = BLOCKS[level][version - 1];
  const checks = CHECK_WORDS[level][version - 1];
  const shortData = Math.floor(words.length / count) - checks;
  const shortBlocks = count - (words.length % count);
  const parts = Array.from({ length: count }, () => []);
  let at = 0;
  for (let place = 0; place <= shortData; place += 1) {
    for (let block = place === shortData ? shortBlocks : 0; block < count; block += 1) parts[block].push(words[at++]);
  }
  const lengths = parts.map((part) => part.length);
  for (let place = 0; place < checks; place += 1) {
    for (const part of parts) part.push(words[at++]);
  }
  if (!parts.every((part) => isIntact(part, checks))) return null;
  return parts.flatMap((part, block) => part.slice(0, lengths[block]));
}

// An undamaged block is a polynomial that is zero at the first powers of the field's generator.
function isIntact(part, checks) {
  for (let power = 0; power < checks; power += 1) {
    let value = 0;
    for (const word of part) value = (value === 0 ? 0 : exponent(logarithm(value) + power)) ^ word;
    if (value !== 0) return false;
  }
  return true;
}

function readSegments(data, version) {
  let at = 0;
  const take = (count) => {
    let value = 0;
    for (let bit = 0; bit < count; bit += 1, at += 1) value = (value << 1) | ((data[at >> 3] >> (7 - (at & 7))) & 1);
    return value;
  };
  const size = version < 10 ? 0 : version < 27 ? 1 : 2;
  let text = "";
  while (at + 4 <= data.length * 8) {
    const mode = take(4);
    if (mode === 0) break;
    const reader = READERS[mode];
    // Payments contain no Kanji and no structured codes.
    if (!reader) return null;
    text += reader.read(take(reader.lengths[size]), take);
  }
  return text;
}

const READERS = {
  1: { lengths: [10, 12, 14], read: readDigits },
  2: { lengths: [9, 11, 13], read: readAlphanumeric },
  4: { lengths: [8, 16, 16], read: (count, take) => new TextDecoder().decode(Uint8Array.from({ length: count }, () => take(8))) },
};

function readDigits(count, take) {
  let text = "";
  for (let left = count; left > 0; left -= 3) {
    const digits = Math.min(left, 3);
    text += String(take(digits * 3 + 1)).padStart(digits, "0");
  }
  return text;
}

function readAlphanumeric(count, take) {
  let text = "";
  for (let left = count; left > 1; left -= 2) {
    const pair = take(11);
    text += ALPHANUMERIC[Math.floor(pair / 45)] + ALPHANUMERIC[pair % 45];
  }
  return count % 2 ? text + ALPHANUMERIC[take(6)] : text;
}
