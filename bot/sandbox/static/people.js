// One place on the stage for each user and for each group: caption, phone and, for senders, the wallet.

import { telegram } from "./api.js";
import { el, replaceChildren } from "./dom.js";
import { Pane } from "./pane.js";
import { recall, remember } from "./prefs.js";
import { TopicBar } from "./topics.js";
import { Wallet } from "./wallet.js";
import { languageName, wordsFor } from "./words.js";

const LANGUAGES = ["en", "id", "de"];
const SPEAKER_KEY = "group.speaker";

export function face(name, index) {
  // The style sheet shows the letter. As text, it would be part of what a button seems to be called.
  return el("span", { class: "avatar", "aria-hidden": "true", "data-letter": name.slice(0, 1), "--n": index });
}

// -> { id, name, chatId, role, node, pane, index, … }: the same interface for all places; senders also have a wallet,
// and sync(person) that shows changes made elsewhere.
export function personPlace(store, person, index) {
  const chat = store.privateChat(person.id);
  const controls = settings(person);
  const pane = new Pane({ store, chat, speaker: person, settings: controls.node });
  const wallet = person.role === "sender" ? new Wallet({ person, messages: () => store.history(chat.id) }) : null;
  const role = person.role === "supporter" ? "support" : person.role;
  const caption = el("header", { class: "caption" }, face(person.first_name, index), el("h2", {}, person.first_name), el("p", {}, role));
  const node = el("section", { class: `place${wallet ? " with-wallet" : ""}`, "data-testid": `pane-${person.id}`, "aria-label": `${person.first_name}, ${role}` },
    caption, el("div", { class: "devices" }, pane.node, wallet?.node));
  return { id: person.id, name: person.first_name, chatId: chat.id, role: person.role, node, pane, wallet, index, sync: controls.sync };
}

// Settings that belong to the user's Telegram app.
function settings(person) {
  const language = el("select", { class: "quiet", "aria-label": `Language of ${person.first_name}`, onchange: () => telegram.changePerson(person.id, { language_code: language.value }) },
    [...new Set([...LANGUAGES, person.language_code])].map((code) => el("option", { value: code, selected: code === person.language_code }, languageName(code))));
  const block = el("input", { type: "checkbox", checked: person.blocked, onchange: () => telegram.changePerson(person.id, { blocked: block.checked }) });
  const node = el("div", { class: "person-settings" }, language, el("label", { class: "block" }, block, "Block the bot"));
  return { node, sync: ({ blocked }) => { block.checked = blocked; } };
}

export function groupPlace(store, chat, index) {
  const members = chat.members.map((id) => store.people.get(id)).filter(Boolean);
  const holder = el("div", { class: "devices" });
  const place = { id: chat.id, name: chat.title, chatId: chat.id, role: "group", index, label: chat.is_forum ? "Support" : chat.title };
  const speak = (person) => {
    const topics = chat.is_forum ? new TopicBar({ words: wordsFor(person), onChange: () => place.pane.refresh() }) : null;
    const focused = document.activeElement === select;
    place.pane = new Pane({ store, chat, speaker: person, topics, settings: el("div", { class: "person-settings" }, select) });
    replaceChildren(holder, place.pane.node);
    // The selection is in the pane that was replaced, and keeps the keyboard's focus.
    if (focused) select.focus();
    remember(SPEAKER_KEY, person.id);
  };
  const remembered = recall(SPEAKER_KEY, null);
  const first = members.find(({ id }) => id === remembered) ?? members.find(({ role }) => role === "supporter") ?? members[0];
  const select = el("select", { "aria-label": "Write in the group as", "data-testid": "group-speaker", onchange: () => speak(store.people.get(Number(select.value))) },
    members.map((person) => el("option", { value: person.id, selected: person === first }, `as ${person.first_name}`)));
  place.node = el("section", { class: "place", "data-testid": `pane-${chat.id}`, "aria-label": chat.title },
    el("header", { class: "caption" }, face("G", index), el("h2", {}, chat.title), el("p", {}, chat.is_forum ? "support group" : "a group without the bot")), holder);
  speak(first);
  place.speakAs = (personId) => {
    const person = members.find(({ id }) => id === personId);
    if (!person) return;
    select.value = personId;
    speak(person);
  };
  return place;
}
