// What Telegram's apps make of what is typed: **bold**, __italic__, ~~struck~~, ||hidden||, `code` and ```block```.

const MARKS = [
  [/```([\s\S]+?)```/g, "pre"],
  [/`([^`\n]+)`/g, "code"],
  [/\*\*([\s\S]+?)\*\*/g, "b"],
  [/__([\s\S]+?)__/g, "i"],
  [/~~([\s\S]+?)~~/g, "s"],
  [/\|\|([\s\S]+?)\|\|/g, "tg-spoiler"],
];
const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

// The part of a message that says what was written: { text }, or { html } where it has formatting.
export function written(text) {
  const plain = text.replace(/[&<>]/g, (letter) => ESCAPED[letter]);
  const html = MARKS.reduce((marked, [pattern, tag]) => marked.replace(pattern, `<${tag}>$1</${tag}>`), plain);
  return html === plain ? { text } : { html };
}

// A file as base64, as the sandbox takes pictures.
export function inBase64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
