// What this browser remembers between visits: open panes, light or dark, toy balances.
// Storage can be forbidden (private windows). Then each visit starts with the defaults.

const PREFIX = "kirim.sandbox.";
const memory = new Map();

export function recall(name, fallback) {
  if (memory.has(name)) return memory.get(name);
  try {
    const stored = localStorage.getItem(PREFIX + name);
    return stored === null ? fallback : JSON.parse(stored);
  } catch {
    return fallback;
  }
}

export function remember(name, value) {
  memory.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Kept in memory for this visit.
  }
}
