// The state of the page: users, chats and their messages, updated by the event stream.
// Panes subscribe. Only the store changes it.

import { telegram } from "./api.js";
import { EventStream } from "./events.js";

export class Store {
  constructor() {
    this.sandbox = null;
    this.bot = null;
    this.people = new Map();
    this.chats = new Map();
    this.messages = new Map();
    this.commands = null;
    this.descriptions = {};
    this.listeners = new Map();
    this.seq = 0;
  }

  // Kinds: message, edit, delete, callback_answer, chat_action, commands, descriptions, chat, person, connection, reconnected.
  on(kind, listener) {
    if (!this.listeners.has(kind)) this.listeners.set(kind, []);
    this.listeners.get(kind).push(listener);
  }

  tell(kind, detail) {
    for (const listener of this.listeners.get(kind) ?? []) listener(detail);
  }

  async load() {
    const before = await this.loadState();
    const loaded = await Promise.all([...this.chats.keys()].map((chatId) => this.loadChat(chatId)));
    // The earliest answer decides where the stream starts. Handling an event twice changes nothing.
    this.seq = Math.min(before, ...loaded);
    this.stream = new EventStream({
      after: this.seq,
      onEvent: (event) => this.take(event),
      onStatus: (connected) => this.connection(connected),
    });
    this.stream.open();
  }

  // Returns the number of the last event included in the state.
  async loadState() {
    const state = await telegram.state();
    // The page belongs to the sandbox that it loaded first.
    this.sandbox ??= state.sandbox;
    this.bot = state.bot;
    this.commands = state.commands;
    this.descriptions = state.descriptions;
    this.people = new Map(state.people.map((person) => [person.id, person]));
    this.chats = new Map(state.chats.map((chat) => [chat.id, chat]));
    return state.seq;
  }

  async loadChat(chatId) {
    const { messages, seq } = await telegram.messages(chatId);
    this.messages.set(chatId, new Map(messages.map((message) => [message.message_id, message])));
    return seq;
  }

  history(chatId) {
    return [...(this.messages.get(chatId)?.values() ?? [])];
  }

  privateChat(personId) {
    return this.chats.get(personId) ?? { id: personId, type: "private" };
  }

  take(event) {
    const messages = this.messages.get(event.chat_id);
    if (event.message && messages) {
      const isNew = !messages.has(event.message.message_id);
      messages.set(event.message.message_id, event.message);
      this.tell(isNew ? "message" : "edit", { ...event, chatId: event.chat_id });
      return;
    }
    // The server no longer has what this page shows.
    if (event.type === "reset") location.reload();
    if (event.type === "delete") messages?.delete(event.message_id);
    if (["commands", "descriptions", "person", "chat"].includes(event.type)) {
      this.refresh(event);
      return;
    }
    this.tell(event.type, { ...event, chatId: event.chat_id });
  }

  async refresh(event) {
    await this.loadState();
    for (const chatId of this.chats.keys()) {
      if (!this.messages.has(chatId)) await this.loadChat(chatId);
    }
    this.tell(event.type, event);
  }

  async connection(connected) {
    const isBack = connected && this.wasLost;
    this.wasLost = !connected;
    this.tell("connection", connected);
    if (!isBack) return;
    // A sandbox that started from scratch has nothing of what this page shows.
    const { sandbox } = await telegram.state();
    if (sandbox !== this.sandbox) location.reload();
    else this.tell("reconnected");
  }
}
