// What this browser remembers between visits: open panes, light or dark, toy balances. Where storage is forbidden, each
// visit starts with the defaults. And the button for light or dark: the system’s setting until the user presses it.

import { icon, iconButton } from "./dom.js";

const PREFIX = "kirim.sandbox.";
const SANDBOX_KEY = "id";
// How the page looks. Everything else belongs to one sandbox and its chats.
const LOOK = new Set(["theme", "service.open", "stage.visible", "stage.current"].map((name) => PREFIX + name));

export function recall(name, fallback) {
  return attempt(() => JSON.parse(localStorage.getItem(PREFIX + name))) ?? fallback;
}

export function remember(name, value) {
  attempt(() => localStorage.setItem(PREFIX + name, JSON.stringify(value)));
}

// Forgets the wallets and all else of an earlier sandbox at this address, unless it is the same one.
export function startWith(sandboxId) {
  if (recall(SANDBOX_KEY) === sandboxId) return;
  attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(PREFIX) && !LOOK.has(key)).forEach((key) => localStorage.removeItem(key)));
  remember(SANDBOX_KEY, sandboxId);
}

function attempt(work) {
  try {
    return work();
  } catch {
    return null;
  }
}

const KEY = "theme";
const SYSTEM_DARK = matchMedia("(prefers-color-scheme: dark)");

// Also restores what was chosen at an earlier visit.
export function themeButton() {
  const chosen = document.documentElement.dataset;
  const isDark = () => (chosen.theme ?? (SYSTEM_DARK.matches ? "dark" : "light")) === "dark";
  const toggle = iconButton("moon", "Switch between light and dark", { "data-testid": "theme", onclick: () => {
    chosen.theme = isDark() ? "light" : "dark";
    remember(KEY, chosen.theme);
    draw();
  } });
  const draw = () => toggle.replaceChildren(icon(isDark() ? "sun" : "moon"));
  const before = recall(KEY, null);
  if (before) chosen.theme = before;
  SYSTEM_DARK.addEventListener("change", draw);
  draw();
  return toggle;
}
