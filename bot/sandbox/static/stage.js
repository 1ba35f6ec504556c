// Selection of the places that are shown side by side, or one at a time on a phone.

import { button, el } from "./dom.js";
import { face } from "./people.js";
import { recall, remember } from "./prefs.js";

const VISIBLE_KEY = "stage.visible";
const CURRENT_KEY = "stage.current";
const READ_KEY = "stage.read";
// Two senders with their wallets need this width. On a narrower screen, the first visit shows one.
const ROOM_FOR_TWO = matchMedia("(min-width: 1250px)");
const PHONE = matchMedia("(max-width: 760px)");

export class Stage {
  // onShown() is called when other chats are shown.
  constructor({ store, places, onShown }) {
    Object.assign(this, { store, onShown, places });
    const senders = places.filter(({ role }) => role === "sender").map(({ id }) => id);
    const first = senders.slice(0, ROOM_FOR_TWO.matches ? 2 : 1);
    this.visible = new Set(recall(VISIBLE_KEY, first).filter((id) => this.place(id)));
    if (!this.visible.size) this.visible = new Set(first);
    this.current = this.place(recall(CURRENT_KEY, null))?.id ?? senders[0];
    this.read = recall(READ_KEY, {});
    this.chips = new Map(places.map((place) => [place.id, this.chip(place)]));
    this.switcher = el("nav", { class: "switcher", "aria-label": "Choose whose chats are shown" }, [...this.chips.values()]);
    this.node = el("div", { class: "stage", id: "stage" }, places.map(({ node }) => node));
    PHONE.addEventListener("change", () => {
      this.draw();
      this.onShown();
    });
    this.draw();
  }

  place(id) {
    return this.places.find((place) => place.id === id);
  }

  chip(place) {
    const { id, name, index, role } = place;
    return button("", { class: "person-chip", "data-testid": `show-${id}`, onclick: () => this.choose(id) },
      face(role === "group" ? "G" : name, index), el("span", {}, role === "group" ? place.label : name), " ", el("span", { class: "badge", hidden: true }));
  }

  choose(id) {
    this.current = id;
    if (PHONE.matches) this.visible.add(id);
    else if (this.visible.has(id) && this.visible.size > 1) this.visible.delete(id);
    else this.visible.add(id);
    this.chosen();
  }

  // Shows the first of these chats on a phone, and all of them side by side on a wide screen.
  show(...ids) {
    [this.current] = ids;
    this.visible = new Set(ids);
    this.chosen();
  }

  chosen() {
    remember(VISIBLE_KEY, [...this.visible]);
    remember(CURRENT_KEY, this.current);
    this.draw();
    this.onShown();
    if (this.isShown(this.current)) this.place(this.current).node.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // Shows a place that an action elsewhere leads to.
  open(id) {
    this.current = id;
    this.visible.add(id);
    this.chosen();
  }

  isShown(id) {
    return PHONE.matches ? id === this.current : this.visible.has(id);
  }

  // Also called for every change in a chat: a message is unread while its chat isn't shown.
  draw() {
    for (const { id, chatId, node, pane } of this.places) {
      const shown = this.isShown(id);
      const appears = shown && node.hidden;
      node.hidden = !shown;
      if (shown) this.read[id] = this.store.history(chatId).at(-1)?.message_id ?? 0;
      if (appears) pane.log.toEnd();
      this.drawChip(this.place(id), shown);
    }
    remember(READ_KEY, this.read);
  }

  drawChip({ id, name, chatId }, shown) {
    const unread = this.store.history(chatId).filter((message) => message.message_id > (this.read[id] ?? 0) && message.from?.is_bot).length;
    const chip = this.chips.get(id);
    chip.setAttribute("aria-pressed", String(shown));
    chip.setAttribute("aria-label", unread ? `${name}, ${unread} unread` : name);
    chip.lastElementChild.hidden = unread === 0;
    chip.lastElementChild.textContent = unread;
  }
}
