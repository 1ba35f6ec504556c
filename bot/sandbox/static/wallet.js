// The wallet beside each sender: scan or paste, check the request, pay, pay late or let it expire.
// Its money is pretend. For the settlement sandbox, its payments are like payments to the real service.

import { InvoiceError } from "./bolt11.js";
import { button, clock, el, grouped, icon, replaceChildren } from "./dom.js";
import { remaining, sats } from "./money.js";
import { findPayable, newestPayable, payableFrom, scan } from "./payable.js";
import { recall, remember } from "./prefs.js";
import { wordsFor } from "./words.js";

const FIRST_BALANCE = 1_000_000;
const TOP_UP = 1_000_000;
const SHOWN_PAYMENTS = 4;
const KEPT_PAYMENTS = 50;
const RECENT_MESSAGES = 40;

export class Wallet {
  // messages(): the chat's messages, oldest first. onDue() is called when `due` has changed.
  constructor({ person, messages }) {
    const { wallet, locale } = wordsFor(person);
    Object.assign(this, { person, messages, locale, words: wallet, onDue: () => {}, due: false, orders: [], payable: null, key: `wallet.${person.id}` });
    this.kept = recall(this.key, { balance: FIRST_BALANCE, payments: [] });
    this.balance = el("output", { class: "balance", "data-testid": "wallet-balance", "aria-label": this.words.balance });
    this.input = el("textarea", { rows: "1", class: "paste", "data-testid": "wallet-invoice", "aria-label": this.words.invoice, placeholder: this.words.paste, spellcheck: "false", autocomplete: "off", oninput: () => this.pasted() });
    this.scanButton = button("", { class: "scan", "data-testid": "wallet-scan", onclick: () => this.scan() }, icon("scan"), el("span", {}, this.words.scan));
    this.card = el("div", { class: "bill", hidden: true });
    this.status = el("p", { class: "wallet-status", role: "status", "aria-live": "polite", "data-testid": "wallet-status" });
    this.history = el("ul", { class: "payments", "aria-label": this.words.payments });
    this.node = el("aside", { class: "wallet", "data-testid": `wallet-${person.id}`, "aria-label": this.words.title(person.first_name) },
      this.head(), this.scanButton, this.status, this.card, this.input, this.history);
    this.draw();
    setInterval(() => this.tick(), 1000);
  }

  head() {
    const topUp = button(this.words.topUp, { class: "quiet small", "data-testid": "wallet-top-up", title: this.words.topUpBy(sats(TOP_UP, this.locale)), onclick: () => this.keep({ balance: this.kept.balance + TOP_UP }) });
    return el("header", { class: "wallet-head" }, el("h3", {}, icon("wallet"), this.words.title(this.person.first_name)),
      el("div", { class: "balance-line" }, this.balance, topUp), el("p", { class: "hint" }, this.words.note));
  }

  keep(change) {
    this.kept = { ...this.kept, ...change };
    remember(this.key, this.kept);
    this.draw();
  }

  draw() {
    replaceChildren(this.balance, el("span", {}, grouped(this.kept.balance, this.locale)), el("small", {}, " sats"));
    replaceChildren(this.history, this.kept.payments.slice(0, SHOWN_PAYMENTS).map((payment) => el("li", {},
      el("span", {}, payment.amount), el("time", {}, clock(payment.at / 1000)))));
    this.drawBill();
  }

  // Called when the chat has changed: looks for something to pay in its newest messages.
  async noticed() {
    const messages = this.messages().slice(-RECENT_MESSAGES);
    this.looked = messages;
    const found = await newestPayable(messages);
    if (this.looked !== messages) return;
    this.found = found && this.read(found.text, found.until);
    this.lightUp();
  }

  // Called with the service's orders, which know what has been paid, also from elsewhere.
  ordersChanged(orders) {
    this.orders = orders;
    this.lightUp();
  }

  lightUp() {
    const due = Boolean(this.found) && this.canBePaid(this.found);
    this.scanButton.classList.toggle("fresh", due && this.payable?.id !== this.found.id);
    if (due === this.due) return;
    this.due = due;
    this.onDue();
  }

  canBePaid(payable) {
    const isOver = payable.expiresAt !== null && Date.now() / 1000 >= payable.expiresAt;
    if (isOver || payable.warning || this.kept.payments.some(({ id }) => id === payable.id)) return false;
    const order = this.orders.find((one) => payable.isFor(one));
    return !order || !(order.paid || order.terminal || order.expired);
  }

  async scan() {
    this.scanButton.setAttribute("aria-busy", "true");
    const found = await scan(this.messages());
    this.scanButton.removeAttribute("aria-busy");
    if (!found) return this.say(this.words.nothing, "plain");
    this.input.value = found.text;
    this.take(found.text, found.how, found.until);
  }

  pasted() {
    const text = this.input.value.trim();
    if (text) this.take(findPayable(text)?.text ?? text, "pasted");
    else this.forget();
  }

  take(text, how, until) {
    try {
      this.payable = this.parse(text, until);
      this.paid = this.kept.payments.some(({ id }) => id === this.payable.id);
      this.expiredByHand = false;
      const source = { picture: this.words.fromPicture, text: this.words.fromText, pasted: "" }[how];
      this.say(this.paid ? this.words.paidBefore : source, this.paid ? "good" : "plain");
    } catch (error) {
      this.payable = null;
      this.say(error instanceof InvoiceError ? this.words[error.key] : error.message, "bad");
    }
    this.drawBill();
    this.lightUp();
    if (this.payable) this.actions.scrollIntoView({ block: "nearest" });
  }

  parse(text, until) {
    return payableFrom(text, { wallet: this.words, locale: this.locale }, until);
  }

  // null if the wallet would refuse it.
  read(text, until) {
    try {
      return this.parse(text, until);
    } catch {
      return null;
    }
  }

  forget() {
    this.payable = null;
    this.input.value = "";
    this.say("", "plain");
    this.drawBill();
    this.lightUp();
  }

  drawBill() {
    this.card.hidden = !this.payable;
    if (!this.payable) return;
    const { amount, memo, note, warning } = this.payable;
    this.countdown = el("span", { class: "countdown", "data-testid": "wallet-expiry" });
    this.actions = el("div", { class: "bill-actions" });
    replaceChildren(this.card,
      el("strong", { class: "bill-amount", "data-testid": "wallet-amount" }, amount),
      memo && el("p", { class: "memo", "data-testid": "wallet-memo", title: memo }, memo), el("p", { class: "note" }, note),
      warning && el("p", { class: "warning" }, warning), this.countdown, this.actions);
    this.phase = null;
    this.tick();
  }

  isExpired() {
    const { expiresAt } = this.payable;
    return this.expiredByHand || (expiresAt !== null && Date.now() / 1000 >= expiresAt);
  }

  tick() {
    this.lightUp();
    if (!this.payable) return;
    const { expiresAt } = this.payable;
    const phase = this.paid ? "paid" : this.isExpired() ? "expired" : "open";
    const open = expiresAt === null ? this.words.seeChat : this.words.expiresIn(remaining(expiresAt - Date.now() / 1000));
    this.countdown.textContent = { paid: this.words.paid, expired: this.words.expired, open }[phase];
    this.countdown.className = `countdown ${phase}`;
    if (phase !== this.phase) this.drawActions(phase);
    this.phase = phase;
  }

  drawActions(phase) {
    const control = (id, tone, act, ...inside) => button("", { class: `action ${tone} wide`, "data-testid": `wallet-${id}`, onclick: act }, ...inside);
    const pay = control("pay", "primary", () => this.pay(false), icon("bolt"), this.payable.kind === "transfer" ? this.words.sendToken : this.words.pay);
    const expire = this.payable.expire && control("expire", "quiet", () => this.expire(), this.words.letExpire);
    const late = control("pay-late", "warn", () => this.pay(true), icon("clock"), this.words.payLate);
    const next = control("clear", "quiet", () => this.forget(), this.words.clear);
    replaceChildren(this.actions, { open: [pay, expire], expired: [late, next], paid: [next] }[phase]);
  }

  async pay(late) {
    const { payable } = this;
    if (payable.sats > this.kept.balance) return this.say(this.words.tooLittle, "bad");
    this.card.setAttribute("aria-busy", "true");
    try {
      const answer = await payable.pay(late);
      this.say(answer.already ? this.words.alreadyPaid : this.words.paidAmount(payable.amount), "good");
      this.paid = true;
      if (!answer.already) this.book(payable);
    } catch (error) {
      this.say(error.status === 409 ? this.words.notPaid : error.message, "bad");
      if (error.status === 409) this.expiredByHand = true;
    }
    this.card.removeAttribute("aria-busy");
    this.tick();
  }

  book({ id, amount, sats: worth }) {
    const payments = [{ id, amount: `− ${amount}`, at: Date.now() }, ...this.kept.payments].slice(0, KEPT_PAYMENTS);
    this.keep({ balance: this.kept.balance - worth, payments });
  }

  // Tops up, if the balance is below this.
  ensure(sats) {
    if (this.kept.balance < sats) this.keep({ balance: this.kept.balance + TOP_UP });
  }

  async expire() {
    try {
      await this.payable.expire();
      this.expiredByHand = true;
      this.say(this.words.madeExpire, "plain");
    } catch (error) {
      this.say(error.message, "bad");
    }
    this.tick();
  }

  say(text, tone) {
    this.status.textContent = text;
    this.status.dataset.tone = tone;
  }
}
