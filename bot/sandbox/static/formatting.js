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

// The part of a message that is a file: pictures are shown in the chat, others stay as they are.
export async function attached(file) {
  if (!file) return {};
  const content = await inBase64(file);
  const isPicture = /^image\/(png|jpeg|webp|gif|bmp)$/.test(file.type);
  return isPicture ? { picture: content } : { file: { name: file.name, mime: file.type, content } };
}

// A file as base64, as the sandbox takes files.
function inBase64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
