// Formatting of a message. Offsets count UTF-16 code units, which is how JavaScript indexes strings,
// so slices need no conversion.

import { ZONE, copyText, el } from "./dom.js";

const SIMPLE = { bold: "strong", italic: "em", underline: "u", strikethrough: "s" };
const SAFE_LINK = /^(https?:|mailto:|tel:)/i;

// actions.onCommand(text) is called when the user taps a /command, actions.onCopied() after tap-to-copy;
// actions.locale is the user's language, undefined for the browser's; actions.tapToCopy is the hint on what can be copied,
// actions.showAll the name of the button that opens a long quote.
export function renderText(text, entities, actions) {
  const fragment = document.createDocumentFragment();
  appendRange(fragment, { text, actions }, outermostFirst(entities ?? []), 0, text.length);
  return fragment;
}

function outermostFirst(entities) {
  return [...entities].sort((a, b) => a.offset - b.offset || b.length - a.length);
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
    case "date_time": return dateTime(entity, context.actions.locale);
    default: return both(el("span", { class: "tag" }));
  }
}

function copyable(node, covered, { actions }) {
  node.classList.add("copyable");
  node.setAttribute("role", "button");
  node.setAttribute("tabindex", "0");
  node.setAttribute("title", actions.tapToCopy);
  const copy = async () => actions.onCopied(await copyText(covered));
  node.addEventListener("click", copy);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    copy();
  });
  return node;
}

function preformatted(entity, covered, context) {
  const inner = el("code");
  const outer = el("pre", {}, entity.language ? el("span", { class: "language" }, entity.language) : null, inner);
  copyable(outer, covered, context);
  return { outer, inner };
}

// The quote isn't a button: it can hold what can be pressed itself, such as an invoice to copy.
function expandable({ actions }) {
  const inner = el("span");
  const more = el("button", { type: "button", class: "expand", "aria-expanded": "false", "aria-label": actions.showAll, title: actions.showAll });
  const outer = el("blockquote", { class: "expandable" }, inner, more);
  // A press of the button arrives here, too.
  outer.addEventListener("click", () => {
    // Selecting text in an open quote must not close it.
    if (String(getSelection())) return;
    more.setAttribute("aria-expanded", String(outer.classList.toggle("open")));
  });
  return { outer, inner };
}

function spoiler() {
  const node = el("span", { class: "spoiler", role: "button", tabindex: "0", "aria-label": "Hidden text, tap to show" });
  const show = () => {
    node.classList.add("shown");
    for (const name of ["role", "tabindex", "aria-label"]) node.removeAttribute(name);
  };
  node.addEventListener("click", show, { once: true });
  node.addEventListener("keydown", (event) => event.key === "Enter" && show());
  return node;
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

// The sender's text is the fallback that Telegram requires. The time on the page's clock is shown instead.
function dateTime(entity, locale) {
  const moment = new Date(entity.unix_time * 1000);
  const shown = readersTime(moment, entity.date_time_format ?? "", locale);
  const outer = el("time", { class: "moment", datetime: moment.toISOString(), title: moment.toLocaleString(locale, ZONE) });
  if (!shown) return { outer, inner: outer };
  outer.append(shown);
  return { outer, inner: el("span") };
}

// Formats of the Bot API: r relative, w weekday, d/D short or long date, t/T short or long time.
function readersTime(moment, format, locale) {
  if (!format) return null;
  if (format.includes("r")) return relative(moment, locale);
  const options = { ...ZONE };
  if (format.includes("w")) options.weekday = "long";
  if (/d/i.test(format)) Object.assign(options, { day: "numeric", month: format.includes("D") ? "long" : "numeric", year: "numeric" });
  if (/t/i.test(format)) Object.assign(options, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  if (format.includes("T")) options.second = "2-digit";
  return Object.keys(options).length > 1 ? moment.toLocaleString(locale, options) : null;
}

function relative(moment, locale) {
  const seconds = (moment.getTime() - Date.now()) / 1000;
  const words = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= size) return words.format(Math.trunc(seconds / size), unit);
  }
  return words.format(Math.trunc(seconds), "second");
}
