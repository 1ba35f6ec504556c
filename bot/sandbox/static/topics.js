// The topics of a forum, as tabs above its messages: General, then those with the newest messages first.

import { el, icon, replaceChildren } from "./dom.js";

const GENERAL = 0;
const GENERAL_NAME = "General";

export function topicOf(message) {
  return message.is_topic_message || message.forum_topic_created ? message.message_thread_id ?? GENERAL : GENERAL;
}

// Where the user can write: -> [{ name, label, chatId, topicId }].
export function writable(store, person) {
  const rooms = [...store.chats.values()].filter(({ type, members }) => type !== "private" && members.includes(person.id));
  const places = rooms.flatMap(({ id, title, topics }) => [{ name: id, label: title, chatId: id },
    ...topics.map((topic) => ({ name: `${id}/${topic.id}`, label: `${title} · ${topic.name}`, chatId: id, topicId: topic.id }))]);
  return [{ name: person.id, label: store.bot.first_name, chatId: person.id }, ...places];
}

export class TopicBar {
  constructor({ onChange, words }) {
    this.current = GENERAL;
    this.onChange = onChange;
    this.words = words;
    this.topics = new Map();
    this.unread = new Set();
    this.node = el("div", { class: "topics", role: "tablist", "aria-label": "Topics" });
  }

  // known: the chat's topics; arrived: a new message, so that its topic can be marked unread.
  refresh(messages, known, arrived = null) {
    this.topics = new Map([[GENERAL, { name: GENERAL_NAME }], ...named(messages), ...known.map((topic) => [topic.id, topic])]);
    this.order = newestFirst(this.topics, messages);
    // Deleting a topic removes its messages.
    if (!this.topics.has(this.current)) this.current = GENERAL;
    if (arrived && topicOf(arrived) !== this.current) this.unread.add(topicOf(arrived));
    this.draw();
  }

  draw() {
    replaceChildren(this.node, this.order.map((id) => this.tab(id, this.topics.get(id))));
    this.node.hidden = this.topics.size === 1;
  }

  tab(id, { name, closed }) {
    return el("button", {
      type: "button", role: "tab", class: closed ? "topic closed" : "topic", "data-testid": "topic", "aria-selected": String(id === this.current), onclick: () => this.choose(id),
    }, closed && el("span", { class: "lock", role: "img", "aria-label": this.words.closed }, icon("lock")), name,
    this.unread.has(id) && el("span", { class: "dot", role: "img", "aria-label": this.words.unread }));
  }

  choose(id) {
    this.current = id;
    this.unread.delete(id);
    this.draw();
    this.onChange();
  }
}

// A topic's first message arrives before the event of the topic itself.
function named(messages) {
  return messages.filter((message) => message.forum_topic_created).map((message) => [topicOf(message), message.forum_topic_created]);
}

function newestFirst(topics, messages) {
  const newest = new Map(messages.map((message) => [topicOf(message), message.message_id]));
  const others = [...topics.keys()].filter((id) => id !== GENERAL);
  return [GENERAL, ...others.sort((a, b) => (newest.get(b) ?? b) - (newest.get(a) ?? a))];
}
