"""The words around the parts of an order: they lead to a part, or they are only politeness, and they name nothing."""

from importlib.resources import files
from typing import Final


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


def _words_of_file(name: str) -> frozenset[str]:
    lines = (files(__package__) / name).read_text(encoding="utf-8").splitlines()
    return _words(*(line for line in lines if not line.startswith("#")))


LEADS_TO_NAME: Final = _words("a/n an a.n nama name penerima pemilik holder")
"""What follows is a person's name, even where it is a bank's as well ("a/n Mega")."""

LEADS_APART: Final = ("a", "n")
"""The same in two words: "a n Budi"."""

TITLES: Final = _words("pak bpk bapak bu ibu mas mbak mba kak mr mrs ms")
"""Part of a name as people write it; the word after it is a name and no bank's."""

GENERIC: Final = _words("bank bnk rekening rek e-wallet ewallet dompet")
"""What follows is a destination, even where it is an everyday word as well ("bank mas")."""

LEADS_TO_DESTINATION: Final = _words("via lewat pakai pake tujuan destination bank")
"""What follows is where the money goes, even where people are called so as well."""

ACCOUNT_LABELS: Final = _words("norek rek rekening acc account akun a/c")
"""What leads to nothing else than an account number."""

NUMBER_LABELS: Final = ACCOUNT_LABELS | _words("no nomor nomer number num #")
"""What leads to an account number, or to a number of a house, a room, a queue."""

AMOUNT_LABELS: Final = _words("nominal sebesar sejumlah senilai jumlah amount total sebanyak")
"""What leads to the amount."""

PHONE_LABELS: Final = _words("hp wa tel telp telpon telepon whatsapp phone handphone cp")
"""What leads to a mobile number, which no bank has for an account."""

FILLERS: Final = (NUMBER_LABELS | AMOUNT_LABELS | PHONE_LABELS | LEADS_TO_DESTINATION) - (GENERIC | {"#"}) | _words(
    "ke kepada kpd to for buat untuk utk di atas dengan dgn dan and the of my bagi by transfer transferkan trf tf",
    "kirim kirimkan kirimin send pay topup tolong tlg mohon please pls dong donk deh ya yah mau ingin saya aku want",
    "uang duit saldo makasih thanks thx + & u/ aja saja",
)

POLITE_PAIRS: Final = frozenset({("terima", "kasih"), ("thank", "you"), ("top", "up"), ("no", "rek")})
"""Fillers of two words, of which either alone may be a name."""

ASIDE_LABELS: Final = _words(
    "jam pukul pkl tgl tanggal date time kode code ref reff referensi reference berita inv invoice nota faktur",
    "order pesanan resi id idpel otp pin nik npwp ktp sim stnk plat rt rw blok kav kavling lantai lt kamar meja",
    "antrian antrean gang gg km jalan jl jln kodepos usia umur tahun thn th bulan bln kloter token voucher trx",
    "transaksi polis hal batch #",
)
"""The figure after these is a time, a date, a code or a house: neither an account nor a sum."""

AFTER_CLOCK: Final = _words("wib wita wit am pm")
"""The figure before these is a time of day."""

COUNTED: Final = _words(
    "x kali orang org pcs pc buah bh unit set porsi pax lembar lbr biji hari minggu bulan bln tahun thn malam jam",
    "menit kg gr gram ton liter ltr meter km cm box dus karton lusin tiket kamar anak siswa peserta times people",
    "persons days weeks months years persen percent",
)
"""The figure before these counts something, by which the sum may have to be multiplied."""

NUMBERED_NAMES: Final = frozenset({("bni", "46")})
"""Destinations that people call by a name and a figure."""

SUM_OF_ELSE: Final = _words(
    "fee fees biaya admin adm administrasi ongkir ongkos pajak ppn pph tarif diskon discount cashback bonus tip",
    "tips sisa sisanya kembali kembalian denda potongan potong dipotong dikurangi ditambah tambah plus minus",
    "selisih limit harga harganya cost charge price tax balance",
)
"""A sum beside these may be another one than is to be sent."""

EITHER: Final = _words("atau ato or")
"""Of two things with one of these between, nobody can say which is meant."""

ROUGHLY: Final = _words(
    "sekitar kira kira-kira kira2 hampir kurang lebih min minimal minimum max maks maksimal maximum about around",
    "approx almost over under least most setengah separuh half s/d sd sampai sampe hingga until antara between",
    "paling roughly approximately circa ish",
)
"""Words that are said of sums alone, wherever in the line they stand."""

ABOUT: Final = ROUGHLY | EITHER
"""A sum beside these is only roughly so, or one of several."""

EACH: Final = _words(
    "per tiap setiap masing masing-masing masing2 each every seorang sehari sebulan seminggu setahun sekali",
    "perorang perbulan perhari pertahun perminggu @ x kali",
)
"""A sum beside these is sent more than once, or not whole."""

NOT_THIS: Final = _words(
    "dari dr from asal bukan bkn jangan jgn jng not dont don't tidak tdk tak gak ga gk nggak ngga enggak selain",
    "kecuali tanpa except without instead than daripada drpd minus",
)
"""What follows these is not where the money goes, nor what is sent."""

MONTHS: Final = _words(
    "jan januari january feb februari february pebruari mar maret march apr april mei may jun juni june jul juli",
    "july agu agt agustus aug august ags sep sept september okt oct oktober october nov nop november nopember des",
    "dec desember december",
)
"""A day's figure before one of these, or a year after it, makes a date; alone it may be a person's name."""

BUSINESS: Final = _words(
    "toko warung pt cv ud pd yayasan koperasi klinik apotek bengkel salon usaha panti pondok masjid gereja",
    "sekolah rumah rs catering laundry studio hotel",
)
"""No part of a person's name, but of a firm's that holds an account ("a.n. Toko Budi")."""

TALK: Final = _words(
    "sudah udah sdh dah belum blm tadi kemarin kmrn already sent received was kapan kenapa mengapa apa apakah",
    "berapa bagaimana gimana siapa mana kok bisa when why what how who where which can could is are did does has",
    "have gagal failed pending masuk terkirim diterima cancel batal jangan not tidak pesanan order invoice",
    "tagihan resi kode code otp pin kurs rate halo hello kalau jika if tapi but karena because yang yg ini itu",
    "this that lagi bayar beli sewa cicilan hutang utang belanja payment bought paid owe owes",
)
"""What makes a message one about payments rather than an order of one, and what no name has in it."""

EVERYDAY: Final = _words(
    "mas oke bagi saudara bale motion index capital nyala super mantap prima artha bumi sentosa sinar jaya bank",
    "syariah indonesia by of ok d line sea bisnis jakarta dinar",
)
"""Names of banks that are everyday words: they mean the bank only after the word "bank"."""

NAMES_TOO: Final = _words(
    "mega dana raya ina permata victoria mutiara amar aladin hana ganesha jago niaga neo bali aceh papua banten",
    "lampung jambi jogja jabar maluku mayora saqu krom windu sampoerna nagari woori mestika allo kb nobu citi",
    "octo dki diy jatim jateng kalbar kalsel kalteng kaltim sumut sumsel sulteng sultra bengkulu malut ntt ntb",
    "fama agris artos blu jenius livin",
)
"""Names of banks that are also names of people, of places or words: they give way to a bank named beside them."""

ONLY_EXACT: Final = (
    EVERYDAY
    | NAMES_TOO
    | _words(
        "wondr tcash byond spay brimo livin panin gojek senyumku tunaiku neobank superbank capital kasikorn mayapada"
    )
)
"""What banks are called that a word of everyday or a person's name nearly is: another spelling of it means no bank."""

NEARLY_BANKS: Final = _words(
    "permana permadi mandira mandiro mutia muti mutiah sam hanna hani amara dina maya mayasari nia niar panji",
    "jeni jenni jenny danila danu dani danang mira maria victor viktor viktoria may mei papa mama mayang raka",
    "niken muh moh dan dana bram sin ban pan rian gan dian diana indah intan kris com arta bagus ocha tara saku",
    "super sari sinta shinta sultan sultani hannah mustika kartika megawati megan rayan rayhan jagoan nagara",
    "lampu papi bambang",
    "perdana dimas jane karya andri ishak mason damon mandarin digital india shop trust risau pisau bandar national",
    "banyumas bakalan bangkalan samaran lamaran brankas mansion spion climb drank command commerce peradaban",
    "perkataan sebabkan mamalia sulut parks nis thrust trusts",
)
"""Names of people, and words, that a hasty hand could have made of a bank's: never taken for one."""

EVERYDAY_WORDS: Final = _words_of_file("everyday.txt")
"""Words that are no part of a person's name, nor a misspelt destination's."""

KNOWN_NAMES: Final = _words_of_file("known_names.txt")
"""What people are called."""

WORDS_TOO: Final = _words(
    "alam bagus bintang boy bunga cahaya cinta dana dewa gede hakim hari indah jati jaya kasih lee luh mark mulia",
    "murni muslim ratu ribut sabar sari sen siang tanjung tari tata teguh titik uni untung surya agung bakti bin imam",
    "iman intan putra putri prima setia sukses abang yo unggul wage wen nana mama tini topan guntur cut han dini",
)
"""Names that are words as well: alone they are no name that is taken without a question."""
