"""The words around the parts of an order: they lead to a part, or they are only politeness, and they name nothing."""

from typing import Final

LEADS_TO_NAME: Final = frozenset({"a/n", "an", "a.n", "nama", "name", "penerima", "pemilik", "holder"})
"""What follows is a person's name, even where it is a bank's as well ("a/n Mega")."""

TITLES: Final = frozenset({"pak", "bpk", "bapak", "bu", "ibu", "mas", "mbak", "mba", "kak", "mr", "mrs", "ms"})
"""Part of a name as people write it; the word after it is a name and no bank's."""

GENERIC: Final = frozenset({"bank", "rekening", "rek", "e-wallet", "ewallet", "dompet"})
"""What follows is a destination, even where it is an everyday word as well ("bank mas")."""

FILLERS: Final = frozenset(
    {
        *("ke", "kepada", "kpd", "to", "for", "buat", "untuk", "utk", "via", "lewat", "pakai", "pake", "di"),
        *("atas", "dengan", "dgn", "dan", "and", "the", "of", "my", "bagi", "by"),
        *("transfer", "transferkan", "trf", "tf", "kirim", "kirimkan", "kirimin", "send", "pay", "topup"),
        *("tolong", "tlg", "mohon", "please", "pls", "dong", "ya", "yah", "mau", "ingin", "saya", "aku", "want"),
        *("no", "nomor", "nomer", "norek", "number", "num", "acc", "account", "akun", "a/c", "hp", "wa", "tel", "telp"),
        *("nominal", "sebesar", "sejumlah", "senilai", "jumlah", "amount", "uang", "duit", "saldo", "sebanyak"),
        *("makasih", "thanks", "thx", "tujuan", "destination", "+", "&", "u/"),
    }
)

POLITE_PAIRS: Final = frozenset({("terima", "kasih"), ("thank", "you"), ("top", "up"), ("no", "rek")})
"""Fillers of two words, of which either alone may be a name."""

TALK: Final = frozenset(
    {
        *(
            "sudah",
            "udah",
            "sdh",
            "dah",
            "belum",
            "blm",
            "tadi",
            "kemarin",
            "kmrn",
            "already",
            "sent",
            "received",
            "was",
        ),
        *(
            "kapan",
            "kenapa",
            "mengapa",
            "apa",
            "apakah",
            "berapa",
            "bagaimana",
            "gimana",
            "siapa",
            "mana",
            "kok",
            "bisa",
        ),
        *(
            "when",
            "why",
            "what",
            "how",
            "who",
            "where",
            "which",
            "can",
            "could",
            "is",
            "are",
            "did",
            "does",
            "has",
            "have",
        ),
        *("gagal", "failed", "pending", "masuk", "terkirim", "diterima", "cancel", "batal", "jangan", "not", "tidak"),
        *(
            "pesanan",
            "order",
            "invoice",
            "tagihan",
            "resi",
            "kode",
            "code",
            "otp",
            "pin",
            "kurs",
            "rate",
            "halo",
            "hello",
        ),
        *(
            "kalau",
            "jika",
            "if",
            "tapi",
            "but",
            "karena",
            "because",
            "yang",
            "yg",
            "ini",
            "itu",
            "this",
            "that",
            "lagi",
        ),
        *("bayar", "beli", "sewa", "cicilan", "hutang", "utang", "belanja", "payment", "bought", "paid", "owe", "owes"),
    }
)
"""What makes a message one about payments rather than an order of one, and what no name has in it."""

EVERYDAY: Final = frozenset(
    {
        *("mas", "oke", "bagi", "saudara", "bale", "motion", "index", "capital", "nyala", "super", "mantap", "prima"),
        *("artha", "bumi", "sentosa", "sinar", "jaya", "bank", "syariah", "indonesia", "by", "of"),
    }
)
"""Names of banks that are everyday words: they mean the bank only after the word "bank"."""

NAMES_TOO: Final = frozenset(
    {
        *("mega", "dana", "raya", "ina", "permata", "victoria", "mutiara", "amar", "aladin", "hana", "ganesha", "jago"),
        *("niaga", "neo", "bali", "aceh", "papua", "banten", "lampung", "jambi", "jogja", "jabar", "maluku", "mayora"),
        *("saqu", "krom", "windu", "sampoerna", "nagari", "woori", "mestika", "allo", "kb", "nobu", "citi", "octo"),
    }
)
"""Names of banks that are also names of people, of places or words: they give way to a bank named beside them."""

NEARLY_BANKS: Final = frozenset(
    {
        *(
            "permana",
            "permadi",
            "mandira",
            "mandiro",
            "mutia",
            "muti",
            "mutiah",
            "sam",
            "hanna",
            "hani",
            "amara",
            "dina",
        ),
        *(
            "maya",
            "mayasari",
            "nia",
            "niar",
            "panji",
            "jeni",
            "jenni",
            "jenny",
            "danila",
            "danu",
            "dani",
            "danang",
            "mira",
        ),
        *(
            "maria",
            "victor",
            "viktor",
            "viktoria",
            "may",
            "mei",
            "papa",
            "mama",
            "mayang",
            "raka",
            "niken",
            "muh",
            "moh",
        ),
        *("dan", "dana", "bram", "sin", "ban", "pan", "rian", "gan", "dian", "diana", "indah", "intan", "kris", "com"),
        *("arta", "bagus", "ocha", "tara", "saku", "super", "sari", "sinta", "shinta", "sultan", "sultani", "hannah"),
        *("mustika", "kartika", "megawati", "megan", "rayan", "rayhan", "jagoan", "nagara", "lampu", "papi", "bambang"),
    }
)
"""Names of people that a hasty hand could have made of a bank's: never taken for one."""
