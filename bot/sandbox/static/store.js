// The state of the page: users, chats and their messages, updated by the event stream.
// Panes subscribe. Only the store changes it.

import { telegram } from "./api.js";

export class Store extends EventTarget {
  constructor() {
    super();
    this.messages = new Map();
  }

  // Kinds: message, edit, delete, callback_answer, chat_action, commands, descriptions, chat, person, connection, reconnected.
  on(kind, listener) {
    this.addEventListener(kind, ({ detail }) => listener(detail));
  }

  tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }

  async load() {
    const before = await this.loadState();
    const loaded = await Promise.all([...this.chats.keys()].map((chatId) => this.loadChat(chatId)));
    // The earliest answer decides where the stream starts. Handling an event twice changes nothing.
    this.seq = Math.min(before, ...loaded);
    this.listen();
  }

  // The browser connects again by itself, and names the last event that it has. A first one can be known already.
  listen() {
    const source = new EventSource(`/sandbox/events?after=${this.seq}`);
    source.onopen = () => this.connection(true);
    source.onerror = () => this.connection(false);
    source.onmessage = ({ data }) => {
      const event = JSON.parse(data);
      if (event.seq <= this.seq) return;
      this.seq = event.seq;
      this.take(event);
    };
  }

  // Returns the number of the last event included in the state.
  async loadState() {
    const state = await telegram.state();
    // The page belongs to the sandbox that it loaded first.
    this.sandbox ??= state.sandbox;
    const { bot, commands, descriptions } = state;
    const byId = (list) => new Map(list.map((one) => [one.id, one]));
    Object.assign(this, { bot, commands, descriptions, people: byId(state.people), chats: byId(state.chats) });
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
