// The texts of chats and wallets, in the user's language, as in Telegram and in a wallet app.

const WORDS = {
  en: {
    locale: "en-US",
    message: "Message", menu: "Menu", start: "Start", edited: "edited", typing: "typing…", bot: "bot", members: (count) => `${count} members`,
    empty: "No messages yet. Press Start to say hello.", emptyGroup: "Tickets and messages for support appear here.", emptyRoom: "The bot isn’t in this group. What you share here comes from inline mode.", copied: "Copied", notCopied: "Copying isn’t allowed here",
    noAnswer: "The bot didn’t answer", blocked: "You blocked this bot", unblock: "Unblock", ok: "OK",
    reply: "Reply", more: "More", edit: "Edit", remove: "Delete", forward: "Forward", forwarded: "Forwarded from", forwardTo: "Forward to", shareTo: "Share in", via: "via", inlineResults: "Results of the bot", editing: "Editing",
    closed: "closed", cancel: "Cancel", hidden: "Photo", today: "Today", newer: "Newer messages", unknownKind: "This page can’t show this kind of message",
    tapToCopy: "Tap to copy", showAll: "Show all", enlarge: "Enlarge", silent: "Sent without sound", unread: "unread",
    topicOpened: (name, topic) => `${name} opened the topic “${topic}”`, topicRenamed: (topic) => `The topic is now called “${topic}”`,
    topicClosed: (name) => `${name} closed the topic`, topicReopened: (name) => `${name} reopened the topic`,
    supportAnswer: "We’re sorry. We received your payment, but the payout failed. Please don’t pay again. We’ve asked our payment partner what happens to the money and will write to you here.",
    pinned: (name, text) => `${name} pinned “${text}”`, joined: (names) => `${names} joined`, left: (name) => `${name} left`,
    wallet: {
      title: (name) => `${name}’s wallet`, note: "Play money for this sandbox", balance: "Balance", topUp: "Top up", topUpBy: (sats) => `Add ${sats} of play money`, payments: "Payments",
      scan: "Scan the QR code", invoice: "Invoice", paste: "Or paste an invoice", fromPicture: "Read from the QR code in the chat.", fromText: "No QR code found. Read from the text in the chat.",
      nothing: "There’s nothing to pay in this chat yet.", paidBefore: "This wallet has already paid this.", alreadyPaid: "Already paid. Nothing was sent twice.",
      paidAmount: (amount) => `Paid ${amount}.`, notPaid: "Not paid. The invoice has expired, or the order has ended.", tooLittle: "Not enough sats. Top up first.",
      madeExpire: "The service now treats this invoice as expired.", pay: "Pay", sendToken: "Send the token", letExpire: "Let it expire", payLate: "Pay late anyway", clear: "Clear",
      paid: "Paid", expired: "Expired", seeChat: "The chat says until when", expiresIn: (time) => `Expires in ${time}`, anyAmount: "any amount", to: (address) => `to ${address}`,
      otherNetwork: (network, own) => `This invoice is for ${network}, not for the sandbox’s ${own}. A real wallet would reject it.`,
      unknownToken: "This wallet doesn’t know the token. A real wallet might send the network’s own coin instead.", noSuchDeposit: "No unpaid order expects exactly this amount of this token.",
      mixedCase: "The invoice mixes capital and small letters.", notInvoice: "This isn’t a Lightning invoice.", badLetter: "The invoice has a character that invoices never have.",
      damaged: "The invoice is damaged. Its checksum is wrong.", unknownNetwork: "This wallet doesn’t know the invoice’s network.",
    },
  },
  id: {
    locale: "id-ID",
    message: "Pesan", menu: "Menu", start: "Mulai", edited: "diedit", typing: "sedang mengetik…", bot: "bot", members: (count) => `${count} anggota`,
    empty: "Belum ada pesan. Tekan Mulai untuk menyapa.", emptyGroup: "Tiket dan pesan untuk tim bantuan muncul di sini.", emptyRoom: "Bot tidak ada di grup ini. Yang kamu bagikan di sini berasal dari mode inline.", copied: "Tersalin", notCopied: "Tidak bisa menyalin di sini",
    noAnswer: "Bot tidak menjawab", blocked: "Kamu memblokir bot ini", unblock: "Buka blokir", ok: "OK",
    reply: "Balas", more: "Lainnya", edit: "Edit", remove: "Hapus", forward: "Teruskan", forwarded: "Diteruskan dari", forwardTo: "Teruskan ke", shareTo: "Bagikan ke", via: "lewat", inlineResults: "Hasil dari bot", editing: "Mengedit",
    closed: "ditutup", cancel: "Batal", hidden: "Foto", today: "Hari ini", newer: "Pesan terbaru", unknownKind: "Halaman ini tidak bisa menampilkan jenis pesan ini",
    tapToCopy: "Ketuk untuk menyalin", showAll: "Tampilkan semua", enlarge: "Perbesar", silent: "Dikirim tanpa suara", unread: "belum dibaca",
    topicOpened: (name, topic) => `${name} membuka topik “${topic}”`, topicRenamed: (topic) => `Nama topik sekarang “${topic}”`,
    topicClosed: (name) => `${name} menutup topik`, topicReopened: (name) => `${name} membuka topik lagi`,
    supportAnswer: "Mohon maaf. Pembayaranmu sudah kami terima, tapi pengiriman rupiahnya gagal. Jangan bayar lagi. Kami sudah menanyakannya ke mitra pembayaran kami dan akan mengabarimu di sini.",
    pinned: (name, text) => `${name} menyematkan “${text}”`, joined: (names) => `${names} bergabung`, left: (name) => `${name} keluar`,
    wallet: {
      title: (name) => `Wallet ${name}`, note: "Uang mainan untuk sandbox ini", balance: "Saldo", topUp: "Isi saldo", topUpBy: (sats) => `Tambah ${sats} uang mainan`, payments: "Pembayaran",
      scan: "Pindai kode QR", invoice: "Invoice", paste: "Atau tempel invoice", fromPicture: "Dibaca dari kode QR di chat.", fromText: "Kode QR tidak ditemukan. Dibaca dari teks di chat.",
      nothing: "Belum ada yang perlu dibayar di chat ini.", paidBefore: "Wallet ini sudah membayarnya.", alreadyPaid: "Sudah dibayar. Tidak ada yang terkirim dua kali.",
      paidAmount: (amount) => `${amount} dibayar.`, notPaid: "Tidak dibayar. Invoice sudah kedaluwarsa, atau transaksinya sudah berakhir.", tooLittle: "Saldo tidak cukup. Isi saldo dulu.",
      madeExpire: "Layanan sekarang menganggap invoice ini kedaluwarsa.", pay: "Bayar", sendToken: "Kirim token", letExpire: "Biarkan kedaluwarsa", payLate: "Tetap bayar terlambat", clear: "Bersihkan",
      paid: "Sudah dibayar", expired: "Kedaluwarsa", seeChat: "Batas waktunya ada di chat", expiresIn: (time) => `Sisa waktu ${time}`, anyAmount: "jumlah bebas", to: (address) => `ke ${address}`,
      otherNetwork: (network, own) => `Invoice ini untuk ${network}, bukan untuk ${own} milik sandbox. Wallet sungguhan akan menolaknya.`,
      unknownToken: "Wallet ini tidak mengenal token itu. Wallet sungguhan bisa saja mengirim koin jaringannya.", noSuchDeposit: "Tidak ada transaksi belum dibayar dengan jumlah persis sekian untuk token ini.",
      mixedCase: "Invoice ini mencampur huruf besar dan kecil.", notInvoice: "Ini bukan invoice Lightning.", badLetter: "Ada karakter yang tidak mungkin ada di invoice.",
      damaged: "Invoice ini rusak. Checksum-nya salah.", unknownNetwork: "Wallet ini tidak mengenal jaringan invoice itu.",
    },
  },
};

export function wordsFor(person) {
  return WORDS[person?.language_code?.startsWith("id") ? "id" : "en"];
}

export function languageName(code) {
  return new Intl.DisplayNames(["en"], { type: "language" }).of(code || "en");
}
