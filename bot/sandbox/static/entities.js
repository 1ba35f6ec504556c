// Formatting of a message. Offsets count UTF-16 code units, which is how JavaScript indexes strings,
// so slices need no conversion.

import { ZONE, clock, copyText, el } from "./dom.js";

const SIMPLE = { bold: "strong", italic: "em", underline: "u", strikethrough: "s" };
const SAFE_LINK = /^(https?:|mailto:|tel:)/i;

// actions.onCommand(text) is called when the user taps a /command, actions.onCopied() after tap-to-copy; words: see words.js.
export function renderText(text, entities, { actions, words }) {
  const fragment = document.createDocumentFragment();
  const outermostFirst = [...entities ?? []].sort((a, b) => a.offset - b.offset || b.length - a.length);
  appendRange(fragment, { text, actions, words }, outermostFirst, 0, text.length);
  return fragment;
}

function appendRange(parent, context, entities, start, end) {
  let at = start;
  let rest = entities;
  while (rest.length) {
    const [entity] = rest;
    const from = Math.max(entity.offset, at);
    // An entity that ends after its parent is cut there. Telegram nests entities and never overlaps them.
    const to = Math.min(entity.offset + entity.length, end);
    const inside = rest.slice(1).filter((other) => other.offset < to);
    rest = rest.slice(1 + inside.length);
    if (to <= from) continue;
    parent.append(context.text.slice(at, from));
    const { outer, inner } = wrapper(entity, context, context.text.slice(from, to));
    appendRange(inner, context, inside, from, to);
    parent.append(outer);
    at = to;
  }
  parent.append(context.text.slice(at, end));
}

function wrapper(entity, context, covered) {
  const both = (node) => ({ outer: node, inner: node });
  if (SIMPLE[entity.type]) return both(el(SIMPLE[entity.type]));
  switch (entity.type) {
    case "code": return both(copyable(el("code"), covered, context));
    case "pre": return preformatted(entity, covered, context);
    case "blockquote": return both(el("blockquote"));
    case "expandable_blockquote": return expandable(context);
    case "spoiler": return both(spoiler());
    case "text_link": return both(link(entity.url, covered));
    case "url": return both(link(/^[a-z][a-z0-9+.-]*:/i.test(covered) ? covered : `https://${covered}`, covered));
    case "email": return both(link(`mailto:${covered}`, covered));
    case "phone_number": return both(link(`tel:${covered.replace(/[^+\d]/g, "")}`, covered));
    case "bot_command": return both(command(covered, context));
    case "date_time": return dateTime(entity, context.words.locale);
    default: return both(el("span", { class: "tag" }));
  }
}

// An element in the middle of a text that is pressed. A button would break its lines elsewhere.
function pressable(node, act) {
  node.setAttribute("role", "button");
  node.setAttribute("tabindex", "0");
  node.addEventListener("click", act);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
  return node;
}

function copyable(node, covered, { actions, words }) {
  node.classList.add("copyable");
  node.title = words.tapToCopy;
  return pressable(node, async () => actions.onCopied(await copyText(covered)));
}

function preformatted(entity, covered, context) {
  const inner = el("code");
  const outer = el("pre", {}, entity.language ? el("span", { class: "language" }, entity.language) : null, inner);
  copyable(outer, covered, context);
  return { outer, inner };
}

// The quote isn't a button: it can hold what can be pressed itself, such as an invoice to copy.
function expandable({ words }) {
  const inner = el("span");
  const more = el("button", { type: "button", class: "expand", "aria-expanded": "false", "aria-label": words.showAll, title: words.showAll });
  // A press of the button arrives at the quote, too. Selecting text in an open quote must not close it.
  const turn = () => String(getSelection()) || more.setAttribute("aria-expanded", String(outer.classList.toggle("open")));
  const outer = el("blockquote", { class: "expandable", onclick: turn }, inner, more);
  return { outer, inner };
}

function spoiler() {
  const node = el("span", { class: "spoiler", "aria-label": "Hidden text, tap to show" });
  return pressable(node, () => {
    node.classList.add("shown");
    for (const name of ["role", "tabindex", "aria-label"]) node.removeAttribute(name);
  });
}

function link(address, covered) {
  // tg: links and unknown ones open nothing here. The address is a tooltip.
  if (!SAFE_LINK.test(address)) return el("span", { class: "tag", title: address });
  const title = address === covered ? null : address;
  return el("a", { href: address, target: "_blank", rel: "noopener noreferrer", title });
}

function command(covered, { actions }) {
  return el("button", { type: "button", class: "command", onclick: () => actions.onCommand(covered) });
}

// The bot writes a time in the user's zone, or asks for the time of the user's device (format t): here the page's clock.
function dateTime({ unix_time: at, date_time_format: format }, locale) {
  const outer = el("time", { class: "moment", datetime: new Date(at * 1000).toISOString(), title: new Date(at * 1000).toLocaleString(locale, ZONE) });
  if (!format) return { outer, inner: outer };
  outer.append(clock(at));
  return { outer, inner: el("span") };
}
