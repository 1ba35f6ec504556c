// Acts as the sandbox's users do, and waits for what the bot answers. The scenes of the guide are written with it.

import { service, telegram } from "./api.js";
import { plainText } from "./message.js";
import { findPayable } from "./payable.js";

const LOOK_MS = 300;
const WAIT_SECONDS = 60;
const PRESS_WAIT_SECONDS = 10;

// The scene can't continue. The text says why.
export class Halted extends Error {}

export class Play {
  // So that a viewer can follow: between two steps, and for a caption of up to 50 characters.
  static pauseMs = 900;
  static captionMs = 2500;

  // places: see people.js; say(text) tells the viewer what happens.
  constructor({ store, stage, tabs, places, say }) {
    Object.assign(this, { store, stage, tabs, places, tell: say });
    this.isStopped = false;
    this.readAt = 0;
    this.began = Math.floor(Date.now() / 1000);
    this.marks = new Map();
  }

  stop() {
    this.isStopped = true;
  }

  place(id) {
    return this.places.find((place) => place.id === id);
  }

  // Shows the first of these chats on a phone, and all of them on a wide screen.
  async scene(text, ...shown) {
    await this.read();
    this.tabs.choose("chat");
    this.stage.show(...shown.map(({ id }) => id));
    await this.say(text);
    await this.pause();
  }

  // Shows a caption, once the one before has been there long enough to read.
  async say(text) {
    await this.read();
    this.tell(text);
    this.readAt = Date.now() + Play.captionMs * Math.max(1, text.length / 50);
  }

  async read() {
    while (Date.now() < this.readAt) {
      this.check();
      await sleep(Math.min(LOOK_MS, this.readAt - Date.now()));
    }
    this.check();
  }

  async pause() {
    await sleep(Play.pauseMs);
    this.check();
  }

  check() {
    if (this.isStopped) throw new Halted("Stopped. You can go on in the chats yourself.");
  }

  // Waits until check() returns something, and returns that.
  async until(what, check, seconds = WAIT_SECONDS) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      this.check();
      const found = await check();
      if (found) return found;
      if (Date.now() > end) throw new Halted(`It stopped: ${what} didn’t come within ${seconds} s. Look into the chats.`);
      await sleep(LOOK_MS);
    }
  }

  async write(person, text) {
    this.mark(person.id);
    await telegram.send(person.id, { from: person.id, text });
  }

  // From now on, only newer messages of the bot count in this chat.
  mark(chatId) {
    this.marks.set(chatId, this.store.history(chatId).at(-1)?.message_id ?? 0);
  }

  // The bot's messages since the mark, also older ones that it has changed since the scene began.
  answers(chatId) {
    const isNew = ({ message_id: id, edit_date: edited }) => id > (this.marks.get(chatId) ?? 0) || (edited ?? 0) >= this.began;
    return this.store.history(chatId).filter((message) => message.from?.is_bot && isNew(message));
  }

  // Buttons are found by their data: their texts are in the user's language.
  button(chatId, data) {
    for (const message of this.answers(chatId).reverse()) {
      const found = (message.reply_markup?.inline_keyboard ?? []).flat().find((one) => data.test(one.callback_data ?? ""));
      if (found) return { message, data: found.callback_data };
    }
    return null;
  }

  async press(person, what, data) {
    const found = await this.until(what, () => this.button(person.id, data));
    await telegram.press(person.id, { from: person.id, message_id: found.message.message_id, data: found.data, timeout: PRESS_WAIT_SECONDS });
    return found;
  }

  // The service's newest order that isn't in `before`, once its invoice is in the chat.
  async orderOf(person, before) {
    const order = await this.until("the order", async () => (await service.orders()).orders.find(({ id }) => !before.has(id)));
    await this.until("the invoice", () => this.hasInvoice(person, order));
    return order;
  }

  // While an order waits for its payment, its invoice is in the chat. The bot removes it as soon as it knows of the payment.
  hasInvoice(person, order) {
    return this.store.history(person.id).some((message) => hasInvoiceOf(order, message));
  }

  // Whether the bot has learned of the payment since the mark. Killed before it knew that its invoice had arrived, the bot
  // sends it again, and later removes only the second one. So a newer message that isn't the invoice counts as well.
  knowsOfPayment(person, order) {
    const isNews = (message) => message.from?.is_bot && message.message_id > this.marks.get(person.id) && !hasInvoiceOf(order, message);
    return !this.hasInvoice(person, order) || this.store.history(person.id).some(isNews);
  }

  // scanned() is called between the scan and the payment.
  async pay(person, order, scanned = () => {}) {
    const { wallet } = this.place(person.id);
    this.tabs.choose("wallet");
    wallet.ensure(Number(order.satAmount));
    await wallet.scan();
    await this.pause();
    await scanned();
    await wallet.pay(false);
    await this.until("the payment", async () => (await this.current(order)).paid);
    await this.pause();
    this.tabs.choose("chat");
  }

  async current(order) {
    return (await service.orders()).orders.find(({ id }) => id === order.id);
  }
}

function hasInvoiceOf(order, message) {
  return findPayable(plainText(message))?.text.toLowerCase() === order.invoiceBolt11;
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
