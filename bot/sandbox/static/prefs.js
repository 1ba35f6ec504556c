// What this browser remembers between visits: open panes, light or dark, toy balances.
// Storage can be forbidden (private windows). Then each visit starts with the defaults.

const PREFIX = "kirim.sandbox.";
const SANDBOX_KEY = "id";
// How the page looks. Everything else belongs to one sandbox and its chats.
const LOOK = new Set(["theme", "service.open", "stage.visible", "stage.current"]);
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

// Forgets the wallets and all else of an earlier sandbox at this address, unless it is the same one.
export function startWith(sandboxId) {
  if (recall(SANDBOX_KEY, null) === sandboxId) return;
  memory.clear();
  try {
    const names = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
    for (const name of names) if (!LOOK.has(name)) localStorage.removeItem(PREFIX + name);
  } catch {
    // Nothing was stored.
  }
  remember(SANDBOX_KEY, sandboxId);
}
