// Dialogs over the page: an enlarged picture, alerts that a bot answers a button with, and choices.

import { button, el, iconButton } from "./dom.js";

export function showPicture(source, description) {
  const dialog = el("dialog", { class: "lightbox", "aria-label": description });
  dialog.append(el("img", { src: source, alt: description }), iconButton("close", "Close", { class: "close", onclick: () => dialog.close() }));
  // A click beside the picture closes it, as in photo viewers.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  open(dialog);
}

export function showAlert(title, text, ok = "OK") {
  const dialog = el("dialog", { class: "alert", "aria-label": title, "data-testid": "alert" });
  dialog.append(el("h2", {}, title), el("p", {}, text), button(ok, { class: "action primary", autofocus: true, onclick: () => dialog.close() }));
  open(dialog);
}

// choices: [{ name, label, … }] -> the chosen one, or null.
export function choose(title, choices, cancel) {
  return new Promise((resolve) => {
    const dialog = el("dialog", { class: "alert choices", "aria-label": title, "data-testid": "choices" });
    let chosen = null;
    const take = (choice) => {
      chosen = choice;
      dialog.close();
    };
    dialog.append(el("h2", {}, title), ...choices.map((choice) => button(choice.label, { class: "action", "data-testid": "choice", "data-choice": choice.name, onclick: () => take(choice) })),
      button(cancel, { class: "action quiet", onclick: () => dialog.close() }));
    dialog.addEventListener("close", () => resolve(chosen));
    open(dialog);
  });
}

function open(dialog) {
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
