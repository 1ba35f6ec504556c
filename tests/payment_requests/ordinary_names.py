"""Names as people and shops in Indonesia have them, made up from common first and family names."""

from typing import Final

PEOPLE: Final = """
Dana Wijaya, Siti Permata, Mega Wati, Permata Sari, Raya Kusuma, Ina Marlina, Hana Pertiwi, Jago Saputra,
Bintang Mandiri, Mutiara Dewi, Victoria Tan, Aladin Siregar, Amar Ma'ruf, Niaga Putra, Panin Sutrisno, Surya Dana,
Dewi Permata Sari, Ovi, Sari Dewi, Budi Santoso, Agus Setiawan, Siti Aminah, Nur Aini, Dwi Lestari, Tri Handayani,
Eko Prasetyo, Yanti, Sri Rahayu, Muhammad Rizki, M. Fajar Nugroho, Moh. Ali, Ahmad Fauzi, Abdul Rahman, Abd. Rohim,
Putu Ayu, I Made Wirawan, I Ketut Suwarta, Ni Luh Putu Sari, Nyoman Sudarma, Gede Pratama, Anak Agung Rai,
Andi Muh. Akbar, Daeng Naba, Tengku Ismail, Teuku Umar, Cut Nyak Meutia, R. Soedirman, Raden Ajeng Kartika,
R.A. Kartini, H. Sulaiman, Hj. Fatimah, Dr. Rina Hartono, Ir. Bambang, Drs. Slamet Riyadi, Prof. Widodo, S. Hidayat,
A. K. Rahman, T. B. Simatupang, B. J. Hutapea, K. H. Mansyur, K. Irma Dewi, Kiri Makmur, Kirana Putri, Karim Abdullah,
Karima Zahra, Rima Melati, Irma Suryani, Kris Dayanti, Mikri Hasan, Kiki Rimba, Jonathan Lumban Gaol, Maria Goretti,
Yohanes Chandra, Stefanus Wijaya, Thomas Djorghi, Kevin Sanjaya, Tan Mei Ling, Lie Kok Hong, Ong Siauw Ling,
Lim Swie King, Goh Soon, Oei Tiong, Kwik Kian, The Sin Nio, Ng Ai Ling, Liem Bwan Tjie, Go Pay Lin, Li Na,
Rizal Ramli, Anwar Ibrahim, Zainal Arifin, Zulkifli Hasan, Hotman Siahaan, Ruhut Sitompul, Poltak Sihombing,
Togar Manurung, Ucok Baba Harahap, Butet Nasution, Boru Tobing, Marpaung, Situmorang, Simanjuntak, Pangaribuan,
Ferdinand Sinaga, Rio Haryanto, Christine Hakim, Deddy Mizwar, Iwan Fals, Rhoma Arifin, Elvy Sukaesih, Inul Daratista,
Raisa Andriana, Isyana Sarasvati, José Ramos, Zoë Anderson, D'Masiv Rian, O'Neil Santoso, Jean-Luc Pattiasina,
Anne-Marie Latuconsina, Nugroho S.Kom, Lestari
"""

SHOPS: Final = """
Toko Mandiri Jaya, Toko Permata, Warung Dana Rasa, UD Mandiri Sejahtera, CV Mega Karya, PT Mega Persada,
PT Dana Abadi Jaya, PT Permata Hijau, CV Niaga Utama, PT Sinar Mas Abadi, Toko Sinar Jaya, Toko Emas Mulia,
Koperasi Karyawan Bank Mandiri, Koperasi Bank Sampah Melati, Bank Sampah Melati, Bank Darah PMI Bogor,
Yayasan Mandiri Kasih, Yayasan Dana Sosial Al Falah, Masjid Raya Al-Ikhlas, Masjid Jami' At-Taqwa,
Panti Asuhan Kasih Ibu, Gereja Kristen Jawa, Pondok Pesantren Nurul Huda, RS Hana Medika, Klinik Permata Hati,
Apotek Jaya, Apotek K-24 Cabang 3, Laundry Kiloan Bersih, Laundry 88, Toko 88, Toko Dua Saudara, Warung Bu Sri,
Warteg Kharisma Bahari, Bakso Pak Kumis, Sate Khas Senayan, Nasi Goreng Gila, Ayam Geprek Bu Rum, Mie Aceh Raya,
Kopi Kenangan Senja, Kedai Kopi Aceh, Dapur Mama Ina, Catering Bu Dewi, Roti Maros, Kue Lapis Mutiara,
Pempek Cek Molek, Bengkel Jaya Motor, Bengkel Las Mandiri, Cuci Mobil Super, Rental Mobil Amanah, Travel Bintang Raya,
Ojek Pangkalan Mas Joko, Salon Victoria, Barbershop Ganteng, Butik Permata Bunda, Konveksi Maju Jaya,
Batik Danar Asri, Tenun Ulos Sianipar, Toko Buku Ilmu, Fotokopi Berkah, Percetakan Prima Grafika, Studio Foto Cahaya,
Les Privat Bu Rina, TK Tunas Bangsa, SD Negeri 1 Sleman, PAUD Melati 2, RT 05 RW 02 Cempaka, Arisan Ibu PKK,
Iuran Warga Blok C, Panitia Qurban 2026, Komunitas Sepeda Bandung, Ekspedisi Kilat Jaya, Kiriman Ibu Sari, Kirimia,
Paket Murah Makmur, Gudang Beras Cianjur, Tani Makmur, UD Sumber Rejeki, CV Artha Graha Karya, PT Bumi Arta Lestari,
PT Capital Jaya, PT Index Media, PT Prima Sejahtera, PT. Sahabat Sejati, Sari BCA, BRI Jaya Motor, OVO Fashion,
Jenius Course, Kost Putri Jago, Kos Bu Raya, Villa Neo Bali, Homestay Lampung Indah, Jambi Jaya
"""

NAMES: Final = tuple(" ".join(name.split()) for name in f"{PEOPLE},{SHOPS}".split(","))
