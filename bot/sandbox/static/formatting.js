// Formatting of typed text, as in Telegram's apps: **bold**, __italic__, ~~struck~~, ||hidden||, `code` and ```block```.

const MARKS = [
  [/```([\s\S]+?)```/g, "pre"],
  [/`([^`\n]+)`/g, "code"],
  [/\*\*([\s\S]+?)\*\*/g, "b"],
  [/__([\s\S]+?)__/g, "i"],
  [/~~([\s\S]+?)~~/g, "s"],
  [/\|\|([\s\S]+?)\|\|/g, "tg-spoiler"],
];
const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

// The text part of a message: { text }, or { html } if it has formatting.
export function written(text) {
  const plain = text.replace(/[&<>]/g, (letter) => ESCAPED[letter]);
  const html = MARKS.reduce((marked, [pattern, tag]) => marked.replace(pattern, `<${tag}>$1</${tag}>`), plain);
  return html === plain ? { text } : { html };
}

// The file part of a message: pictures are sent as photos, other files as documents.
export async function attached(file) {
  if (!file) return {};
  const content = await inBase64(file);
  const isPicture = /^image\/(png|jpeg|webp|gif|bmp)$/.test(file.type);
  return isPicture ? { picture: content } : { file: { name: file.name, mime: file.type, content } };
}

// A file as base64, the format of the sandbox's API.
async function inBase64(file) {
  return btoa(Array.from(new Uint8Array(await file.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(""));
}
