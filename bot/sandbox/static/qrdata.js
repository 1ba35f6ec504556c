// Converts the dots of a QR code into text (ISO/IEC 18004). The codewords that would repair damage are skipped: the
// pictures come straight from the chat, an invoice has a checksum of its own, and a transfer must fit an order.

export const BLOCKS = [
  [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25],
  [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49],
  [1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20, 23, 23, 25, 27, 29, 34, 34, 35, 38, 40, 43, 45, 48, 51, 53, 56, 59, 62, 65, 68],
  [1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25, 25, 34, 30, 32, 35, 37, 40, 42, 45, 48, 51, 54, 57, 60, 63, 66, 70, 74, 77, 81],
];

export const CHECK_WORDS = [
  [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
  [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  [13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30, 28, 30, 30, 30, 30, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
  [17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28, 30, 24, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
];

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
  return readSegments(blocks(codewords(dots, size, version, MASKS[mask]), version, level), version);
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
  let bits = "";
  let upward = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right -= 1;
    for (let step = 0; step < size; step += 1) {
      const row = upward ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (!reserved[row * size + column]) bits += dots[row * size + column] ^ (mask(row, column) === 0 ? 1 : 0);
      }
    }
    upward = !upward;
  }
  return bits.match(/.{8}/g);
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
  return parts.flat();
}

function readSegments(data, version) {
  let at = 0;
  const bits = data.join("");
  const take = (count) => parseInt(bits.slice(at, at += count), 2);
  const size = version < 10 ? 0 : version < 27 ? 1 : 2;
  let text = "";
  while (at + 4 <= bits.length) {
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
