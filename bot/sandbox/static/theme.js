// Light or dark: the system's setting until the user presses the button.

import { icon, iconButton } from "./dom.js";
import { recall, remember } from "./prefs.js";

const KEY = "theme";
const SYSTEM_DARK = matchMedia("(prefers-color-scheme: dark)");

export function themeButton() {
  const toggle = iconButton("moon", "Switch between light and dark", { "data-testid": "theme", onclick: () => {
    apply(isDark() ? "light" : "dark");
    draw();
  } });
  const draw = () => toggle.replaceChildren(icon(isDark() ? "sun" : "moon"));
  SYSTEM_DARK.addEventListener("change", draw);
  draw();
  return toggle;
}

export function isDark() {
  return (document.documentElement.dataset.theme ?? (SYSTEM_DARK.matches ? "dark" : "light")) === "dark";
}

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  remember(KEY, theme);
}

export function restoreTheme() {
  const theme = recall(KEY, null);
  if (theme) document.documentElement.dataset.theme = theme;
}
