// What a newcomer can see next, each with one press: a failure and its answer, a broadcast, and a killed bot.
// A scene ends with what it has shown. It checks that itself, so it never claims more than what happened.

import { replicas, service, telegram } from "./api.js";
import { plainText } from "./message.js";
import { Halted } from "./play.js";
import { topicOf } from "./topics.js";
import { wordsFor } from "./words.js";

const ORDER_LINE = "/send 150rb bca 1234567890 Budi";
const CONFIRM_ORDER = /^d:[0-9a-f]+:\d+:confirm$/;
// An order that was begun earlier is in the way.
const START_OVER = /^over$/;
const ASK_DAILY = /^sub:daily$/;
const CHOOSE_HOUR = /^sub:time:/;
const UNSUBSCRIBE = /^sub:end$/;
const PREVIEW = /^bc:[0-9a-f]+:\d+:preview$/;
const SEND = /^bc:[0-9a-f]+:\d+:(?:confirm|sure)\b/;
const SEND_ANYWAY = /^bc:[0-9a-f]+:\d+:sure\b/;

// -> [{ id, label, more, act(play) -> what was shown }], those that these users can play. A phone has no room for `more`.
export function scenesFor({ senders, operator, agent, group }) {
  const [sender] = senders;
  if (!sender) return [];
  return [
    agent && group && { id: "fail", label: "Fail a payout", more: " and answer as support", act: (play) => failAndAnswer(play, { sender, agent, group }) },
    operator && { id: "broadcast", label: "Send a broadcast", more: "", act: (play) => broadcast(play, { senders, operator }) },
    { id: "kill", label: "Kill the bot", more: " in the middle of a payment", act: (play) => killInPayment(play, { sender }) },
  ].filter(Boolean);
}

async function failAndAnswer(play, { sender, agent, group }) {
  const order = await orderAndInvoice(play, sender, "1 of 4");
  const topics = new Set(topicIds(play, group));
  await play.say(`2 of 4 · ${sender.first_name} pays.`);
  // At any speed, it fails before it is sent.
  await service.fail(order.id, "LN_SWAP_PENDING");
  await play.pay(sender, order);
  await play.until("the message about the payment", () => !play.hasInvoice(sender, order));
  await play.scene("3 of 4 · The payout fails at the service. Who notices?", group, sender);
  if ((await play.current(order)).state !== "FAILED") await service.fail(order.id);
  const topic = await play.until("the ticket", () => topicIds(play, group).find((id) => !topics.has(id)));
  const after = seconds(Date.parse((await play.current(order)).updatedAt));
  play.place(group.id).pane.topics.choose(topic);
  const ticket = await play.until("the ticket’s message", () => messagesIn(play, group, topic).find((message) => message.reply_markup));
  await play.pause();
  await play.scene(`4 of 4 · ${agent.first_name} replies to the ticket’s message.`, group, sender);
  const answer = wordsFor(sender).supportAnswer;
  await telegram.send(group.id, { from: agent.id, text: answer, thread_id: topic, reply_to: ticket.message_id });
  const arrived = await play.until("the answer", () => play.store.history(sender.id).findLast((message) => message.from?.is_bot && plainText(message).includes(answer)));
  await play.scene(`4 of 4 · The answer is in ${sender.first_name}’s chat.`, sender, group);
  if (!arrived || messagesIn(play, group, topic).some((message) => plainText(message).includes(order.payoutRecipient))) {
    throw new Halted("Not shown: the group saw the recipient’s full number.");
  }
  return `${after} s after the failure, support had a ticket and ${sender.first_name} knew not to pay again. ${agent.first_name}’s answer reached ${sender.first_name}. The group never saw the recipient’s full number.`;
}

async function broadcast(play, { senders, operator }) {
  for (const reader of senders) {
    await play.scene(`1 of 3 · ${reader.first_name} subscribes to the rate.`, reader, ...senders.filter((other) => other !== reader));
    await subscribe(play, reader);
  }
  await play.scene(`2 of 3 · ${operator.first_name} writes a broadcast, and sees what each language gets.`, operator, senders[0]);
  await play.write(operator, "/broadcast");
  await play.press(operator, "the draft", PREVIEW);
  await play.until("the preview", () => play.button(operator.id, SEND));
  await play.pause();
  for (const { id } of senders) play.mark(id);
  await play.say(`3 of 3 · ${operator.first_name} confirms.`);
  const sent = Date.now();
  await play.press(operator, "the preview", SEND);
  // The rate has jumped since the last broadcast, or is old: the bot asks twice.
  let isAsked = false;
  const received = await play.until("the broadcast", async () => {
    if (!isAsked && play.button(operator.id, SEND_ANYWAY)) {
      isAsked = true;
      await play.press(operator, "the second question", SEND_ANYWAY);
    }
    const each = senders.map(({ id }) => play.store.history(id).filter((message) => message.from?.is_bot && message.message_id > play.marks.get(id)));
    return each.every((messages) => messages.length) && each;
  });
  const after = seconds(sent);
  await play.scene("3 of 3 · It has arrived.", ...senders);
  if (received.some((messages) => new Set(messages.map(plainText)).size !== messages.length)) throw new Halted("Not shown: a reader got it twice.");
  const languages = new Set(senders.map(({ language_code: code }) => code)).size;
  return `${operator.first_name} saw the message before it was sent. ${after} s later each of the ${senders.length} subscribers had it once${languages > 1 ? ", in their own language" : ""}.`;
}

async function subscribe(play, reader) {
  await play.write(reader, "/rate");
  await play.until("the rate", () => play.button(reader.id, ASK_DAILY));
  if (play.button(reader.id, UNSUBSCRIBE)) return;
  await play.press(reader, "the rate", ASK_DAILY);
  await play.press(reader, "the hours", CHOOSE_HOUR);
  await play.pause();
}

async function killInPayment(play, { sender }) {
  const { alive } = await replicas.list();
  if (!alive.length) throw new Halted("This sandbox doesn’t run the bot itself, so it can’t kill it.");
  const before = new Set((await service.orders()).orders.map(({ id }) => id));
  const order = await orderAndInvoice(play, sender, "1 of 4");
  const all = alive.length > 1 ? `all ${alive.length} processes of the bot` : "the bot";
  await play.say(`2 of 4 · Next, we kill ${all} without a warning (SIGKILL), and ${sender.first_name} pays at that moment.`);
  await play.read();
  play.mark(sender.id);
  let killed = 0;
  await play.pay(sender, order, async () => {
    killed = Date.now();
    await Promise.all(alive.map((number) => replicas.act(number, "crash")));
  });
  await play.say(`3 of 4 · ${sender.first_name} paid while the bot was dead. It starts again, and asks the service what happened.`);
  await play.until("the message about the payment", () => play.knowsOfPayment(sender, order), 120);
  const after = seconds(killed);
  await play.say(`4 of 4 · It found the payment ${after} s after its death. Next, the rupiah.`);
  await play.until("the end of the order", async () => (await play.current(order)).state === "COMPLETED", 120);
  const isReceipt = (message) => message.photo && message.from?.is_bot && message.message_id > play.marks.get(sender.id);
  const receipts = await play.until("the receipt", () => some(play.store.history(sender.id).filter(isReceipt)));
  await play.pause();
  const made = (await service.orders()).orders.filter(({ id }) => !before.has(id));
  if (made.length !== 1 || receipts.length !== 1) throw new Halted(`Not shown: there are ${made.length} orders and ${receipts.length} receipts.`);
  return `The bot was killed in the middle of a payment, and found the payment ${after} s later. One order, one payment, one receipt: nothing was lost or done twice.`;
}

async function orderAndInvoice(play, sender, step) {
  await play.scene(`${step} · ${sender.first_name} sends Rp150,000 with one line, and confirms.`, sender);
  const before = new Set((await service.orders()).orders.map(({ id }) => id));
  await play.write(sender, ORDER_LINE);
  const shown = await play.until("the review", () => play.button(sender.id, CONFIRM_ORDER) ?? play.button(sender.id, START_OVER));
  if (START_OVER.test(shown.data)) {
    await play.press(sender, "the review", START_OVER);
    await play.write(sender, ORDER_LINE);
  }
  await play.press(sender, "the review", CONFIRM_ORDER);
  return play.orderOf(sender, before);
}

function topicIds(play, group) {
  return (play.store.chats.get(group.id)?.topics ?? []).map(({ id }) => id);
}

function messagesIn(play, group, topic) {
  return play.store.history(group.id).filter((message) => topicOf(message) === topic && message.from?.is_bot);
}

function some(list) {
  return list.length ? list : null;
}

function seconds(since) {
  return Math.max(1, Math.round((Date.now() - since) / 1000));
}
