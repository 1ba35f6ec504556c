// Counts down, copies, shares, prints, and brings the state up to date. Without it the page says the same and reloads
// by itself.

const main = document.querySelector("main");
const { look, expired, expiredText } = main.dataset;
const expires = Number(main.dataset.expires) || null;
const drawn = main.dataset.state;
const part = (id) => document.getElementById(id);

const SLOWEST = 30;
const HIDDEN_TIMES = 10;
const OFFLINE_AFTER = 2;
const COPIED_MS = 2000;

let again = Number(main.dataset.again);
let ahead = Number(main.dataset.now) - Date.now();
let etag = null;
let failures = 0;
let asking = false;
let nextAsk = 0;
let nextCount = 0;
const resets = new Map();

// The server's time: a phone's own clock may be minutes off.
const now = () => Date.now() + ahead;

function show(told) {
  // The server draws what can be paid, the receipt, and what a payer without a chat can do.
  const contact = part("contact");
  const isTyping = contact && contact.value !== contact.defaultValue;
  const isPayers = main.dataset.payer !== undefined && told.state !== drawn && !isTyping;
  if (isPayers || told.state === "sent" || (told.state === "waiting" && !part("pay"))) return location.reload();
  main.dataset.state = told.state;
  part("heading").textContent = told.heading;
  part("text").textContent = told.text;
  part("steps").replaceChildren(...told.steps.map(({ name, progress }) => {
    const line = document.createElement("li");
    line.className = progress;
    line.textContent = name;
    if (progress === "now") line.setAttribute("aria-current", "step");
    return line;
  }));
  again = told.again;
  if (told.state !== "waiting") forget();
}

// Nothing is to be paid any more: the invoice leaves the page, not only the eye.
// Who was in there with the keyboard is led to what the page says now, not back to its beginning.
function forget() {
  const pay = part("pay");
  const wasInside = pay?.contains(document.activeElement);
  pay?.remove();
  if (wasInside) part("heading").focus();
}

function isOver() {
  return expires !== null && now() >= expires;
}

// The server's word replaces this as soon as it is heard.
function expire() {
  forget();
  main.dataset.state = "expired";
  part("heading").textContent = expired;
  part("text").textContent = expiredText;
  part("steps").replaceChildren();
  etag = null;
}

function clock(seconds) {
  const two = (value) => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  const rest = two(seconds % 60);
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}

function count() {
  if (!part("pay") || expires === null) return;
  if (isOver()) {
    expire();
    ask();
    return;
  }
  const seconds = Math.ceil((expires - now()) / 1000);
  part("left").textContent = part("left").dataset.words.replace("{time}", clock(seconds));
  part("bar").value = seconds;
  clearTimeout(nextCount);
  nextCount = setTimeout(count, (expires - now()) % 1000 || 1000);
}

async function ask() {
  if (asking || !again) return;
  asking = true;
  clearTimeout(nextAsk);
  try {
    const headers = etag ? { "If-None-Match": etag } : {};
    const answer = await fetch(look, { headers, cache: "no-store", credentials: "omit", redirect: "error" });
    await take(answer);
    failures = 0;
  } catch {
    failures += 1;
  }
  asking = false;
  part("offline").hidden = failures < OFFLINE_AFTER;
  plan();
}

async function take(answer) {
  if (answer.status === 404) return location.reload();
  if (!answer.ok && answer.status !== 304) throw new Error(String(answer.status));
  const told = answer.status === 304 ? null : await answer.json();
  ahead = Number(answer.headers.get("x-now")) - Date.now();
  etag = answer.headers.get("etag");
  if (told) show(told);
}

// A hidden page asks rarely, a failing one less and less often; a little chance keeps many pages from asking at once.
function plan() {
  if (!again) return;
  const usual = again * (document.hidden ? HIDDEN_TIMES : 1);
  const seconds = failures ? Math.min(again * 2 ** failures, Math.max(SLOWEST, usual)) : usual;
  clearTimeout(nextAsk);
  nextAsk = setTimeout(ask, seconds * 1000 * (0.9 + Math.random() * 0.2));
}

async function copy(button) {
  const source = part(button.dataset.copies);
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    const folded = source.closest("details");
    if (folded) folded.open = true; // what is folded away can't be selected
    getSelection().selectAllChildren(source);
    if (!document.execCommand("copy")) return;
  }
  // Not disabled: the keyboard would lose its place.
  button.dataset.label ??= button.textContent;
  button.textContent = button.dataset.done;
  button.classList.add("done");
  part("said").textContent = button.dataset.done;
  clearTimeout(resets.get(button));
  resets.set(button, setTimeout(() => {
    button.textContent = button.dataset.label;
    button.classList.remove("done");
    part("said").textContent = "";
  }, COPIED_MS));
}

async function share(button) {
  const { title, text, shares: url } = button.dataset;
  try {
    await navigator.share({ title, text, url });
  } catch (error) {
    // Closing the phone's list of apps is no failure.
    if (error.name !== "AbortError") await copy(button);
  }
}

for (const button of document.querySelectorAll("[data-copies]")) {
  const shares = button.dataset.shares && navigator.share;
  if (button.dataset.shares && !shares) button.textContent = button.dataset.copy;
  button.hidden = false;
  button.addEventListener("click", () => (shares ? share(button) : copy(button)));
}
for (const button of document.querySelectorAll("[data-prints]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
document.addEventListener("visibilitychange", () => document.hidden || (count(), ask()));
addEventListener("pageshow", (event) => event.persisted && ask());
addEventListener("online", ask);
count();
ask();
