// Reads from a BOLT11 invoice what a wallet shows before paying: amount, memo and expiry.
// The checksum is verified, the signature isn't: a toy wallet pays only the sandbox's service.

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const SIGNATURE_WORDS = 104;
const TIMESTAMP_WORDS = 7;
const CHECKSUM_WORDS = 6;
const DEFAULT_EXPIRY_SECONDS = 3600;
// Millisats in one unit of the human-readable amount. "p" is a tenth of a millisat.
const MSAT_PER_UNIT = { m: 100_000_000n, u: 100_000n, n: 100n };
const MSAT_PER_BTC = 100_000_000_000n;
const NETWORKS = { bc: "Bitcoin", tb: "Testnet", tbs: "Signet", bcrt: "Regtest" };

// key: the name of its text.
export class InvoiceError extends Error {
  constructor(key) {
    super(key);
    this.key = key;
  }
}

// -> { bolt11, network, sats (number, or null for any amount), memo, expiresAt (Unix seconds) }
export function decodeInvoice(text) {
  const given = text.trim().replace(/^lightning:/i, "");
  const bolt11 = given.toLowerCase();
  if (given !== bolt11 && given !== given.toUpperCase()) throw new InvoiceError("mixedCase");
  const split = bolt11.lastIndexOf("1");
  if (!bolt11.startsWith("ln") || split < 4) throw new InvoiceError("notInvoice");
  const prefix = bolt11.slice(0, split);
  const words = [...bolt11.slice(split + 1)].map((letter) => ALPHABET.indexOf(letter));
  if (words.includes(-1)) throw new InvoiceError("badLetter");
  if (words.length < SIGNATURE_WORDS + TIMESTAMP_WORDS + CHECKSUM_WORDS || !checksumHolds(prefix, words)) {
    throw new InvoiceError("damaged");
  }
  const createdAt = number(words.slice(0, TIMESTAMP_WORDS));
  const fields = taggedFields(words.slice(TIMESTAMP_WORDS, -(SIGNATURE_WORDS + CHECKSUM_WORDS)));
  const expiry = fields.x ? number(fields.x) : DEFAULT_EXPIRY_SECONDS;
  return {
    bolt11, ...amount(prefix), expiresAt: createdAt + expiry,
    memo: fields.d ? new TextDecoder().decode(bytes(fields.d)) : "",
  };
}

function amount(prefix) {
  const parts = /^ln(bcrt|bc|tbs|tb)(?:(\d+)([munp])?)?$/.exec(prefix);
  if (!parts) throw new InvoiceError("unknownNetwork");
  const [, network, digits, unit] = parts;
  const name = NETWORKS[network];
  if (!digits) return { network: name, sats: null };
  const msat = unit === "p" ? BigInt(digits) / 10n : BigInt(digits) * (unit ? MSAT_PER_UNIT[unit] : MSAT_PER_BTC);
  return { network: name, sats: Number(msat) / 1000 };
}

function taggedFields(words) {
  const fields = {};
  for (let at = 0; at + 3 <= words.length;) {
    const length = words[at + 1] * 32 + words[at + 2];
    const tag = ALPHABET[words[at]];
    // The first field of a kind counts, as the standard says for repeated fields.
    fields[tag] ??= words.slice(at + 3, at + 3 + length);
    at += 3 + length;
  }
  return fields;
}

function checksumHolds(prefix, words) {
  const letters = [...prefix].map((letter) => letter.charCodeAt(0));
  const expanded = [...letters.map((code) => code >> 5), 0, ...letters.map((code) => code & 31)];
  let sum = 1;
  for (const word of [...expanded, ...words]) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ word;
    GENERATORS.forEach((generator, bit) => { if ((top >> bit) & 1) sum ^= generator; });
  }
  return sum === 1;
}

// Multiplication instead of shifts: a timestamp has 35 bits, and JavaScript shifts 32.
function number(words) {
  return words.reduce((total, word) => total * 32 + word, 0);
}

function bytes(words) {
  const bits = words.map((word) => word.toString(2).padStart(5, "0")).join("");
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (eight) => parseInt(eight, 2));
}
