// What the chat itself says, in the language of the person whose phone it is, as their own app would.

const WORDS = {
  en: {
    message: "Message", menu: "Menu", start: "Start", edited: "edited", typing: "typing…", bot: "bot",
    empty: "No messages yet. Press Start to say hello.", copied: "Copied", notCopied: "Copying is not allowed here",
    noAnswer: "The bot did not answer", blocked: "You blocked this bot", unblock: "Unblock", ok: "OK",
    reply: "Reply", more: "More", edit: "Edit", remove: "Delete", forward: "Forward", forwarded: "Forwarded from", forwardTo: "Forward to", editing: "Editing",
    closed: "closed", cancel: "Cancel", hidden: "Photo", today: "Today", yesterday: "Yesterday", newer: "Newer messages", deleted: "Deleted message",
  },
  id: {
    message: "Pesan", menu: "Menu", start: "Mulai", edited: "diedit", typing: "sedang mengetik…", bot: "bot",
    empty: "Belum ada pesan. Tekan Mulai untuk menyapa.", copied: "Disalin", notCopied: "Tidak bisa menyalin di sini",
    noAnswer: "Bot tidak menjawab", blocked: "Anda memblokir bot ini", unblock: "Buka blokir", ok: "OK",
    reply: "Balas", more: "Lainnya", edit: "Edit", remove: "Hapus", forward: "Teruskan", forwarded: "Diteruskan dari", forwardTo: "Teruskan ke", editing: "Mengedit",
    closed: "ditutup", cancel: "Batal", hidden: "Foto", today: "Hari ini", yesterday: "Kemarin", newer: "Pesan baru", deleted: "Pesan dihapus",
  },
};

export function wordsFor(person) {
  return WORDS[person?.language_code?.startsWith("id") ? "id" : "en"];
}

export function languageName(code) {
  return new Intl.DisplayNames(["en"], { type: "language" }).of(code || "en");
}
