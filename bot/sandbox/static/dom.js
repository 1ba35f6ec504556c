// Helpers for building the page. Everything uses createElement and textContent:
// text of users and bots is never markup.

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  send: "M4 12 20 4l-5 16-3.2-6.8L4 12Zm7.8 1.2L20 4",
  reply: "M10 8V4l-7 7 7 7v-4c5 0 8 1.5 11 5-1-6-4-10-11-11Z",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h10",
  down: "M6 10l6 6 6-6",
  up: "M6 14l6-6 6 6",
  copy: "M9 9h10v11H9zM5 15V4h10",
  link: "M8 16 17 7M10 7h7v7",
  check: "M5 12.5 10 17 19 7.5",
  checks: "M2.5 12.5 7 17l8.5-9.5M11 16.2l.8.8 9.2-9.5",
  silent: "M6 16h12l-1.5-2.5V10a4.5 4.5 0 0 0-7-3.7M8 9.8v3.7L6 16M10 19h4M4 4l16 16",
  sound: "M6 16h12l-1.5-2.5V10a4.5 4.5 0 0 0-9 0v3.5L6 16M10 19h4",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  scan: "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M8 8h3v3H8zM13 8h3v3h-3zM8 13h3v3H8zM14 14h2v2",
  wallet: "M4 7h14a2 2 0 0 1 2 2v9H4zM4 7V5.5L16 4v3M16 13.5h.01",
  chat: "M4 5h16v11H10l-4 4v-4H4z",
  service: "M4 6h16v5H4zM4 14h16v5H4zM8 8.5h.01M8 16.5h.01",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8ZM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2",
  moon: "M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5Z",
  more: "M12 6h.01M12 12h.01M12 18h.01",
  bolt: "M13 3 5 13.5h6L10 21l8-10.5h-6z",
  clock: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16ZM12 8v4.5l3 1.8",
  clip: "M20 11.5 12 19.5a5 5 0 0 1-7-7L13 4.5a3.4 3.4 0 0 1 4.8 4.8L10 17a1.7 1.7 0 0 1-2.4-2.4l7-7",
};

export function icon(name, className = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name} ${className}`.trim());
  // Icons are always beside text or inside a named button.
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

// el("button", { class: "primary", "data-testid": "send", onclick: send }, "Send")
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) setProperty(node, name, value);
  replaceChildren(node, ...children);
  return node;
}

function setProperty(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name === "value") node.value = value;
  else if (name.startsWith("--")) node.style.setProperty(name, value);
  else node.setAttribute(name, value === true ? "" : String(value));
}

export function button(label, properties = {}, ...children) {
  return el("button", { type: "button", ...properties }, ...(children.length ? children : [label]));
}

// A button with only a picture. Its name is in aria-label and title.
export function iconButton(name, label, properties = {}) {
  const { class: extra = "", ...rest } = properties;
  return button(label, { class: `icon-button ${extra}`.trim(), "aria-label": label, title: label, ...rest }, icon(name));
}

export function replaceChildren(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

// The page has one clock, that of the bot's messages: WIB, the time in Jakarta, wherever the browser is.
export const ZONE = { timeZone: "Asia/Jakarta" };

export function clock(unixSeconds) {
  return new Date(unixSeconds * 1000).toLocaleTimeString("en-GB", { ...ZONE, hour: "2-digit", minute: "2-digit" });
}

export function dayOf(unixSeconds, locale = "en-GB") {
  return new Date(unixSeconds * 1000).toLocaleDateString(locale, { ...ZONE, day: "numeric", month: "long" });
}

export function grouped(number, locale = "en-US") {
  return Number(number).toLocaleString(locale);
}

// Shows a list: items [{ key, shown, make }]. A node stays as long as what it shows does, so that a focused button keeps
// its focus. A changed one takes over the focus.
export function update(list, items) {
  const before = new Map([...list.children].map((node) => [node.dataset.key, node]));
  const nodes = items.map(({ key, shown, make }) => {
    const [old, version] = [before.get(String(key)), JSON.stringify(shown)];
    if (old?.dataset.version === version) return old;
    const node = make();
    Object.assign(node.dataset, { key, version });
    const focused = [...old?.querySelectorAll("button") ?? []].indexOf(document.activeElement);
    if (focused >= 0) queueMicrotask(() => node.querySelectorAll("button")[focused]?.focus());
    return node;
  });
  if (nodes.length !== list.children.length || nodes.some((node, place) => node !== list.children[place])) list.replaceChildren(...nodes);
}
