// Dialogs over the page: an enlarged picture, alerts that a bot answers a button with, and choices.

import { button, el, iconButton } from "./dom.js";

export function showPicture(source, description) {
  const dialog = open("lightbox", description, null, el("img", { src: source, alt: description }), iconButton("close", "Close", { class: "close", onclick: () => dialog.close() }));
  // A click beside the picture closes it, as in photo viewers.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

export function showAlert(title, text, ok) {
  const dialog = open("alert", title, "alert", el("h2", {}, title), el("p", {}, text), button(ok, { class: "action primary", autofocus: true, onclick: () => dialog.close() }));
}

// choices: [{ name, label, … }] -> the chosen one, or undefined.
export function choose(title, choices, cancel) {
  return new Promise((resolve) => {
    const control = (label, properties) => button(label, { ...properties, onclick: ({ target }) => target.closest("dialog").close(properties["data-choice"]) });
    const dialog = open("alert choices", title, "choices", el("h2", {}, title),
      choices.map(({ name, label }) => control(label, { class: "action", "data-testid": "choice", "data-choice": name })), control(cancel, { class: "action quiet" }));
    dialog.addEventListener("close", () => resolve(choices.find(({ name }) => String(name) === dialog.returnValue)));
  });
}

function open(look, title, testId, ...children) {
  const dialog = el("dialog", { class: look, "aria-label": title, "data-testid": testId, onclose: () => dialog.remove() }, ...children);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
