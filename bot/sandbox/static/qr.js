// Finds and reads a QR code in a picture. It expects what a chat shows: a flat, undistorted picture,
// perhaps scaled, rotated or compressed. It can't read photographs of crumpled paper.

import { decodeDots } from "./qrdata.js";

const FINDER_WIDTH = 7;
const CENTRE_TO_EDGE = 3.5;
const CANDIDATES = 7;

// image: ImageData. -> the text, or null if there is no code or it is damaged.
export function readQr(image) {
  const dark = darkness(image);
  for (const corners of likelyCorners(finderCentres(dark))) {
    const text = readBetween(dark, corners);
    if (text !== null) return text;
  }
  return null;
}

function readBetween(dark, [topLeft, topRight, bottomLeft]) {
  const across = distance(topLeft, topRight) / ((topLeft.module + topRight.module) / 2);
  // A side has 17 + 4 x version dots, so the estimate is rounded to the nearest of these.
  const version = Math.round((across + FINDER_WIDTH - 17) / 4);
  if (version < 1 || version > 40) return null;
  const size = 17 + 4 * version;
  return decodeDots(sample(dark, topLeft, topRight, bottomLeft, size), size);
}

function darkness({ data, width, height }) {
  const light = new Uint8Array(width * height);
  let low = 255;
  let high = 0;
  for (let at = 0; at < light.length; at += 1) {
    const alpha = data[at * 4 + 3] / 255;
    const grey = data[at * 4] * 0.3 + data[at * 4 + 1] * 0.59 + data[at * 4 + 2] * 0.11;
    light[at] = grey * alpha + 255 * (1 - alpha);
    low = Math.min(low, light[at]);
    high = Math.max(high, light[at]);
  }
  const middle = (low + high) / 2;
  const isDark = (x, y) => x >= 0 && y >= 0 && x < width && y < height && light[y * width + x] < middle;
  return { isDark, width, height };
}

// The three large squares show dark and light runs of 1:1:3:1:1 in every direction.
function finderCentres(dark) {
  const found = [];
  // Hundreds of rows ask for the same columns, and reading columns takes nearly all the time.
  const columns = new Map();
  const downAt = (x) => {
    if (!columns.has(x)) columns.set(x, patternsAlong((y) => dark.isDark(x, y), dark.height));
    return columns.get(x);
  };
  for (let y = 0; y < dark.height; y += 1) {
    for (const across of patternsAlong((x) => dark.isDark(x, y), dark.width)) {
      const down = downAt(Math.round(across.centre)).find((hit) => Math.abs(hit.centre - y) < hit.module);
      if (down) gather(found, { x: across.centre, y: down.centre, module: (across.module + down.module) / 2, hits: 1 });
    }
  }
  return found.sort((a, b) => b.hits - a.hits).slice(0, CANDIDATES);
}

// Data dots can look like a finder pattern by chance. The candidate that decodes is the code.
function likelyCorners(centres) {
  const triples = [];
  centres.forEach((a, i) => centres.slice(i + 1).forEach((b, j) => centres.slice(i + j + 2).forEach((c) => triples.push(inOrder([a, b, c])))));
  return triples.filter(isSquare);
}

function isSquare([corner, one, two]) {
  const [across, down, slant] = [distance(corner, one), distance(corner, two), distance(one, two)];
  return Math.abs(across - down) < across * 0.1 && Math.abs(slant - across * Math.SQRT2) < across * 0.1;
}

function patternsAlong(isDark, length) {
  const runs = [];
  let start = 0;
  for (let at = 1; at <= length; at += 1) {
    if (at < length && isDark(at) === isDark(start)) continue;
    runs.push({ start, length: at - start, dark: isDark(start) });
    start = at;
  }
  const hits = [];
  for (let at = 0; at + 5 <= runs.length; at += 1) {
    const five = runs.slice(at, at + 5);
    if (!five[0].dark) continue;
    const width = five.reduce((sum, run) => sum + run.length, 0);
    const module = width / FINDER_WIDTH;
    const fits = five.every((run, place) => Math.abs(run.length - module * (place === 2 ? 3 : 1)) <= module * 0.6 + 0.3);
    if (fits && module >= 1) hits.push({ centre: five[0].start + width / 2 - 0.5, module });
  }
  return hits;
}

function gather(found, hit) {
  const same = found.find((other) => Math.hypot(other.x - hit.x, other.y - hit.y) < hit.module * 2);
  if (!same) {
    found.push(hit);
    return;
  }
  for (const name of ["x", "y", "module"]) same[name] = (same[name] * same.hits + hit[name]) / (same.hits + 1);
  same.hits += 1;
}

// The corner opposite the longest side is the top left. The orientation distinguishes the other two.
function inOrder([a, b, c]) {
  const [corner, one, two] = [[a, b, c], [b, a, c], [c, a, b]]
    .sort((left, right) => distance(right[1], right[2]) - distance(left[1], left[2]))[0];
  const turn = (one.x - corner.x) * (two.y - corner.y) - (one.y - corner.y) * (two.x - corner.x);
  return turn > 0 ? [corner, one, two] : [corner, two, one];
}

function sample(dark, topLeft, topRight, bottomLeft, size) {
  const span = size - FINDER_WIDTH;
  const dots = new Uint8Array(size * size);
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      const right = (column + 0.5 - CENTRE_TO_EDGE) / span;
      const down = (row + 0.5 - CENTRE_TO_EDGE) / span;
      const x = topLeft.x + (topRight.x - topLeft.x) * right + (bottomLeft.x - topLeft.x) * down;
      const y = topLeft.y + (topRight.y - topLeft.y) * right + (bottomLeft.y - topLeft.y) * down;
      dots[row * size + column] = dark.isDark(Math.round(x), Math.round(y)) ? 1 : 0;
    }
  }
  return dots;
}

function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
