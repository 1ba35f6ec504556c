// One user's phone: the private chat with the bot, or the support group as one member sees it.

import { telegram } from "./api.js";
import { Composer, oneButtonComposer } from "./composer.js";
import { choose, showAlert } from "./dialogs.js";
import { copyText, el, icon, replaceChildren } from "./dom.js";
import { attached, written } from "./formatting.js";
import { InlineResults, startWord } from "./inline.js";
import { MessageLog } from "./log.js";
import { topicOf, writable } from "./topics.js";
import { wordsFor } from "./words.js";

const TYPING_MS = 5000;
const TOAST_MS = 3500;
const PRESS_WAIT_SECONDS = 10;

export class Pane {
  // topics: a TopicBar for forums; speaker: the user that the pane shows and acts for; settings: a node for the header.
  constructor({ store, chat, speaker, settings, topics = null }) {
    Object.assign(this, { store, chat, speaker, topics });
    this.words = wordsFor(speaker);
    this.isGroup = chat.type !== "private";
    this.title = this.isGroup ? chat.title : store.bot.first_name;
    this.status = el("span", { class: "status", "data-testid": "chat-status" });
    this.toast = el("div", { class: "toast", role: "status", "aria-live": "polite", "data-testid": "toast" });
    this.view = { viewerId: speaker.id, isGroup: this.isGroup, words: this.words, actions: this.actions() };
    this.log = new MessageLog({ label: this.isGroup ? `Messages in ${chat.title}` : `Messages of ${speaker.first_name} with ${this.title}`, chatId: chat.id, view: this.view });
    this.inline = new InlineResults({
      bot: store.bot, chatId: chat.id, personId: speaker.id, words: this.words, onSent: () => this.composer.taken(), attempt: (work) => this.attempt(work), open: (word) => this.openBot(word),
    });
    this.composer = new Composer({ name: speaker.first_name, words: this.words, inline: this.inline, commands: () => commandsFor(store.commands, speaker, chat), onSend: (...said) => this.send(...said), onEdit: (message, text) => this.attempt(() => telegram.edit(chat.id, { from: speaker.id, message_id: message.message_id, ...written(text) })) });
    this.log.node.append(this.toast);
    this.foot = el("div", { class: "foot" });
    this.node = el("div", { class: "phone" }, this.header(settings), topics?.node, this.log.node, this.foot);
    this.idle();
    this.refresh();
  }

  header(settings) {
    const face = this.isGroup ? icon("chat") : icon("bolt");
    return el("header", { class: "phone-header" }, el("span", { class: "avatar bot" }, face),
      el("span", { class: "phone-title" }, el("strong", {}, this.title), this.status), settings);
  }

  actions() {
    return {
      onCommand: (text) => this.send(text),
      onCopied: (copied) => this.say(copied ? this.words.copied : this.words.notCopied),
      onButton: (message, pressed, node) => this.pressed(message, pressed, node),
      isOwnLink: (address) => startWord(address, this.store.bot) !== null,
      onReply: (message) => this.composer.setReply(message),
      onEdit: (message) => this.composer.setEdit(message),
      onDelete: (message) => this.attempt(() => telegram.remove(this.chat.id, { from: this.speaker.id, message_id: message.message_id })),
      onForward: (message) => this.forward(message),
    };
  }

  shown() {
    const all = this.store.history(this.chat.id);
    return this.topics ? all.filter((message) => topicOf(message) === this.topics.current) : all;
  }

  refresh() {
    this.refreshTopics();
    this.log.show(this.shown(), this.emptyState());
    this.refreshFoot();
  }

  // arrived: a new message.
  refreshTopics(arrived = null) {
    this.topics?.refresh(this.store.history(this.chat.id), this.store.chats.get(this.chat.id)?.topics ?? [], arrived);
  }

  // The group's members or the names of its topics have changed.
  refreshRoom() {
    this.chat = this.store.chats.get(this.chat.id) ?? this.chat;
    this.refreshTopics();
    if (!this.status.classList.contains("typing")) this.idle();
    this.refreshFoot();
  }

  refreshFoot() {
    this.speaker = this.store.people.get(this.speaker.id) ?? this.speaker;
    const wanted = this.speaker.blocked && !this.isGroup ? "blocked" : this.shown().length || this.isGroup ? "composer" : "start";
    if (wanted !== this.footKind) replaceChildren(this.foot, this.footFor(wanted));
    this.footKind = wanted;
    this.composer.refreshCommands();
  }

  footFor(kind) {
    if (kind === "composer") return this.composer.node;
    if (kind === "start") return oneButtonComposer(this.words.start, "start", () => this.send("/start"));
    return oneButtonComposer(`${this.words.blocked} · ${this.words.unblock}`, "unblock", () => telegram.changePerson(this.speaker.id, { blocked: false }));
  }

  emptyState() {
    if (this.isGroup) return el("p", { class: "empty" }, this.chat.is_forum ? this.words.emptyGroup : this.words.emptyRoom);
    const { descriptions } = this.store;
    const description = descriptions[this.speaker.language_code?.slice(0, 2)] ?? descriptions[""];
    return el("div", { class: "empty" }, el("span", { class: "avatar bot large" }, icon("bolt")), el("strong", {}, this.title),
      el("p", { class: description && "about", "data-testid": "description" }, description ?? this.words.empty));
  }

  async send(text, replyTo, file) {
    const message = { from: this.speaker.id, ...written(text), reply_to: replyTo, ...await attached(file) };
    if (this.topics?.current) message.thread_id = this.topics.current;
    await this.attempt(() => telegram.send(this.chat.id, message));
  }

  async forward(message) {
    const target = await choose(this.words.forwardTo, writable(this.store, this.speaker), this.words.cancel);
    const source = { chat_id: this.chat.id, message_id: message.message_id };
    if (target) await this.attempt(() => telegram.send(target.chatId, { from: this.speaker.id, thread_id: target.topicId, forward: source }));
  }

  async pressed(message, pressed, node) {
    if (pressed.copy_text) {
      const copied = await copyText(pressed.copy_text.text);
      this.view.actions.onCopied(copied);
      // The button confirms it too: users look at the button, not at the toast.
      node.classList.toggle("done", copied);
      setTimeout(() => node.classList.remove("done"), 1200);
    }
    if (pressed.url) await this.openBot(startWord(pressed.url, this.store.bot));
    if (pressed.switch_inline_query !== undefined) await this.share(pressed.switch_inline_query);
    if (!pressed.callback_data) return;
    node.setAttribute("aria-busy", "true");
    await this.attempt(async () => this.answered(await telegram.press(this.chat.id, {
      from: this.speaker.id, message_id: message.message_id, data: pressed.callback_data, timeout: PRESS_WAIT_SECONDS,
    })));
    node.removeAttribute("aria-busy");
  }

  // A link to the bot opens the user's own chat with it, and sends the word of the link.
  async openBot(word) {
    await this.attempt(async () => {
      await telegram.send(this.speaker.id, { from: this.speaker.id, text: word ? `/start ${word}` : "/start" });
      this.store.tell("open", { personId: this.speaker.id });
    });
  }

  // The user chooses a chat, in which the inline query begins.
  async share(query) {
    const target = await choose(this.words.shareTo, writable(this.store, this.speaker), this.words.cancel);
    if (target) this.store.tell("compose", { chatId: target.chatId, personId: this.speaker.id, text: `@${this.store.bot.username} ${query}` });
  }

  answered({ answered, text, show_alert: isAlert }) {
    if (!answered) this.say(this.words.noAnswer);
    else if (text && isAlert) showAlert(this.title, text, this.words.ok);
    else if (text) this.say(text);
  }

  async attempt(work) {
    try {
      await work();
    } catch (error) {
      this.say(error.message);
    }
  }

  say(text) {
    this.toast.textContent = text;
    clearTimeout(this.toastTimer);
    this.toastTimer = setTimeout(() => this.toast.replaceChildren(), TOAST_MS);
  }

  arrived(message) {
    this.refreshTopics(message);
    if (message.from?.id !== this.speaker.id) this.idle();
    if (!this.topics || topicOf(message) === this.topics.current) this.log.add(message);
    this.refreshFoot();
  }

  changed(message) {
    this.log.replace(message);
    this.refreshFoot();
  }

  gone(messageId) {
    this.log.remove(messageId);
    this.refreshFoot();
  }

  typing() {
    this.status.textContent = this.words.typing;
    this.status.classList.add("typing");
    clearTimeout(this.typingTimer);
    this.typingTimer = setTimeout(() => this.idle(), TYPING_MS);
  }

  idle() {
    clearTimeout(this.typingTimer);
    this.status.textContent = this.isGroup ? this.words.members(this.chat.members?.length ?? 0) : this.words.bot;
    this.status.classList.remove("typing");
  }
}

// commands: { "<scope>/<language>": [{ command, description }] }, see the sandbox's Bot API server.
export function commandsFor(commands, person, chat) {
  const scopes = chat.type === "private" ? [`chat:${chat.id}`, "all_private_chats", "default"]
    : [`chat_member:${chat.id}:${person.id}`, `chat_administrators:${chat.id}`, `chat:${chat.id}`, "all_chat_administrators", "all_group_chats", "default"];
  const names = scopes.flatMap((scope) => [`${scope}/${person.language_code?.slice(0, 2)}`, `${scope}/`]);
  return commands[names.find((name) => commands[name])] ?? [];
}
