// Builds the page: loads the chats, creates a pane for every user, and passes events to the right panes.

import { el, icon, replaceChildren } from "./dom.js";
import { Guide } from "./guide.js";
import { groupPlace, personPlace } from "./people.js";
import { startWith, themeButton } from "./prefs.js";
import { ServicePanel } from "./service.js";
import { Stage } from "./stage.js";
import { Store } from "./store.js";
import { PhoneTabs } from "./tabs.js";

const RETRY_MS = 1500;

start();

async function start() {
  const store = new Store();
  try {
    await store.load();
  } catch (error) {
    showTrouble(error.message);
    setTimeout(start, RETRY_MS);
    return;
  }
  startWith(store.sandbox);
  const people = [...store.people.values()];
  const groups = [...store.chats.values()].filter(({ type }) => type !== "private");
  const places = [...people.map((person, index) => personPlace(store, person, index)),
    ...groups.map((chat, index) => groupPlace(store, chat, people.length + index))];
  const tabs = new PhoneTabs();
  const markWallet = () => {
    const due = Boolean(stage.place(stage.current)?.wallet?.due);
    tabs.mark("wallet", due ? "1" : "", "to pay");
  };
  const stage = new Stage({ store, places, onShown: markWallet });
  // Beside the open panel, there is no room for two chats.
  const guide = new Guide({ store, stage, tabs, places, onPlay: () => panel.open(false) });
  const panel = new ServicePanel({ store, onOrders: (orders) => {
    guide.update(orders);
    for (const { wallet } of places) wallet?.ordersChanged(orders);
  } });
  replaceChildren(document.body, skipLink(), topBar(store, stage),
    el("main", { class: "views" }, guide.node, stage.node, panel.node), tabs.node);
  document.body.dataset.ready = "true";
  document.body.dataset.people = peopleIn(store);
  for (const { pane, wallet } of places) {
    pane.log.toEnd();
    if (wallet) wallet.onDue = markWallet;
    wallet?.noticed();
  }
  connect(store, places, stage, guide);
  // The sandbox answers again, perhaps after another start.
  store.on("reconnected", () => panel.replicas.start());
  guide.update();
  panel.start();
}

function connect(store, places, stage, guide) {
  const each = (chatId, act) => places.filter((place) => place.chatId === chatId).forEach(act);
  const after = (chatId) => {
    each(chatId, ({ wallet }) => wallet?.noticed());
    stage.draw();
    guide.update();
  };
  const changes = { message: "arrived", edit: "changed", delete: "gone" };
  for (const [kind, does] of Object.entries(changes)) {
    store.on(kind, ({ chatId, message, message_id: messageId }) => {
      each(chatId, ({ pane }) => pane[does](message ?? messageId));
      after(chatId);
    });
  }
  store.on("chat_action", ({ chatId }) => each(chatId, ({ pane }) => pane.typing()));
  store.on("commands", () => places.forEach(({ pane }) => pane.refreshFoot()));
  store.on("descriptions", () => places.forEach(({ pane }) => pane.refresh()));
  store.on("chat", () => places.forEach(({ pane }) => pane.refreshRoom()));
  store.on("open", ({ personId }) => stage.open(personId));
  store.on("compose", ({ chatId, personId, text }) => {
    const place = places.find((each) => each.chatId === chatId);
    place?.speakAs?.(personId);
    stage.open(place.id);
    place.pane.composer.begin(text);
  });
  const first = peopleIn(store);
  store.on("person", () => {
    // All texts of a chat are in the user's language. A new language or a new user rebuilds the page.
    if (peopleIn(store) !== first) location.reload();
    for (const { id, pane, sync } of places) {
      pane.refreshFoot();
      sync?.(store.people.get(id));
    }
  });
}

// The users and their languages. The page reloads when this changes.
function peopleIn(store) {
  return [...store.people.values()].map(({ id, language_code: language }) => `${id} ${language}`).join();
}

function skipLink() {
  return el("a", { class: "skip", href: "#stage" }, "Skip to the chats");
}

function topBar(store, stage) {
  const live = el("span", { class: "connection", role: "status", "data-testid": "connection" }, "connected");
  store.on("connection", (connected) => {
    live.textContent = connected ? "connected" : "reconnecting…";
    live.classList.toggle("lost", !connected);
  });
  return el("header", { class: "top" },
    el("div", { class: "brand" }, el("span", { class: "mark" }, icon("bolt")), el("h1", {}, store.bot.first_name), el("span", { class: "brand-note" }, "sandbox · no real money · times in WIB")),
    stage.switcher, el("div", { class: "top-end" }, live, themeButton()));
}

function showTrouble(text) {
  replaceChildren(document.body, el("main", { class: "trouble" }, el("span", { class: "avatar bot large" }, icon("bolt")), el("h1", {}, "Waiting for the sandbox"), el("p", { role: "status" }, text)));
}
