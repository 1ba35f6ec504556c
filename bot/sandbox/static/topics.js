// The topics of a forum, as tabs above its messages.

import { el, replaceChildren } from "./dom.js";

const GENERAL = 0;

export function topicOf(message) {
  return message.is_topic_message || message.forum_topic_created ? message.message_thread_id ?? GENERAL : GENERAL;
}

export class TopicBar {
  constructor({ onChange }) {
    this.current = GENERAL;
    this.onChange = onChange;
    this.names = new Map([[GENERAL, "General"]]);
    this.unread = new Set();
    this.node = el("div", { class: "topics", role: "tablist", "aria-label": "Topics" });
  }

  // arrived: a message that has just come in, so that its topic can be marked unread.
  refresh(messages, arrived = null) {
    this.names = new Map([[GENERAL, "General"]]);
    for (const message of messages) {
      const named = message.forum_topic_created ?? message.forum_topic_edited;
      if (named?.name) this.names.set(topicOf(message), named.name);
      else if (!this.names.has(topicOf(message))) this.names.set(topicOf(message), `Topic ${topicOf(message)}`);
    }
    // A topic that was deleted takes its messages along.
    if (!this.names.has(this.current)) this.current = GENERAL;
    if (arrived && topicOf(arrived) !== this.current) this.unread.add(topicOf(arrived));
    this.draw();
  }

  draw() {
    replaceChildren(this.node, [...this.names].map(([id, name]) => el("button", {
      type: "button", role: "tab", class: "topic", "data-testid": "topic", "aria-selected": String(id === this.current), onclick: () => this.choose(id),
    }, name, this.unread.has(id) && el("span", { class: "dot", role: "img", "aria-label": "unread" }))));
    this.node.hidden = this.names.size === 1;
  }

  choose(id) {
    this.current = id;
    this.unread.delete(id);
    this.draw();
    this.onChange();
  }
}
