"""What RE2 in TensorFlow 2.21.0 knows of characters. Written by scripts/golden_regex_tables."""

CATEGORIES = """
Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs
""".split()
SCRIPTS = """
Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo
Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common
Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs
Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul
Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian
Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha
Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi
Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar
Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian
Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage
Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra
Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog
Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic
Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square
""".split()

# Runs of code points, from 0 to 0x10FFFF, as `number.length` in base 36 (length 1 is left out): the number is the place
# of the name, or one more than there are names for none.
CATEGORY_RUNS = """
0.w s k.3 m k.3 l h k o k g k.2 c.a k.2 o.3 k.2 8.q l k h n f n 4.q l o h o 0.x s k m.4 p k n p 6 j o 1 p n p o e.2 n
4 k.2 n e 6 i e.3 k 8.n o 8.7 4.o o 4.8 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8
4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4.2 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4.2 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4
8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8.2 4 8 4 8 4.3 8.2 4 8 4 8.2 4 8.3 4.2 8.4 4 8.2 4 8.3 4.3 8.2 4 8.2 4 8
4 8 4 8.2 4 8 4.2 8 4 8.2 4 8.3 4 8 4 8.2 4.2 6 8 4.3 6.4 8 7 4 8 7 4 8 7 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4.2 8 4 8 4
8 4 8 4 8 4 8 4 8 4 8 4 8 4.2 8 7 4 8 4 8.3 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4
8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4.7 8.2 4 8.2 4.2 8 4 8.4 4 8 4 8 4 8 4 8 4.1x 6 4.r 5.i n.4 5.c n.e 5.5 n.7
5 n 5 n.h b.34 8 4 8 4 5 n 8 4 t.2 5 4.3 k 8 t.4 n.2 8 k 8.3 t 8 t 8.2 4 8.h t 8.9 4.z 8 4.2 8.3 4.3 8 4 8 4 8 4 8 4 8
4 8 4 8 4 8 4 8 4 8 4 8 4 8 4.5 8 4 o 8 4 8.2 4.2 8.1f 4.1c 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8
4 8 4 8 4 p b.5 a.2 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8
4 8 4 8 4 8.2 4 8 4 8 4 8 4 8 4 8 4 8 4.2 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4
8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 t
8.12 t.2 5 k.6 4.15 k g t.2 p.2 m t b.19 g b k b.2 k b.2 k b t.8 6.r t.4 6.4 k.2 t.b 1.6 o.3 k.2 m k.2 p.2 b.b k 1 k.3
6.w 5 6.a b.l c.a k.4 6.2 b 6.2r k 6 b.7 1 p b.6 5.2 b.2 p b.4 6.2 c.a 6.3 p.2 6 k.e t 1 6 b 6.u b.r t.2 6.2h b.b 6
t.e c.a 6.x b.9 5.2 p k.3 5 t.2 b m.2 6.m b.4 5 b.9 5 b.3 5 b.5 t.2 k.f t 6.p b.3 t.2 k t 6.b t.5 6.o n 6.6 t 1.2 t.6
b.8 6.15 5 b.o 1 b.w 9 6.1i b 9 b 6 9.3 b.8 9.4 b 9.2 6 b.7 6.a b.2 k.2 c.a k 5 6.f b 9.2 t 6.8 t.2 6.2 t.2 6.m t 6.7
t 6 t.3 6.4 t.2 b 6 9.3 b.4 t.2 9.2 t.2 9.2 b 6 t.8 9 t.4 6.2 t 6.3 b.2 t.2 c.a 6.2 m.2 e.6 p m 6 k b t.2 b.2 9 t 6.6
t.4 6.2 t.2 6.m t 6.7 t 6.2 t 6.2 t 6.2 t.2 b t 9.3 b.2 t.4 b.2 t.2 b.3 t.3 b t.7 6.4 t 6 t.7 c.a b.2 6.3 b k t.a b.2
9 t 6.9 t 6.3 t 6.m t 6.7 t 6.2 t 6.5 t.2 b 6 9.3 b.5 t b.2 9 t 9.2 b t.2 6 t.f 6.2 b.2 t.2 c.a k m t.7 6 b.6 t b 9.2
t 6.8 t.2 6.2 t.2 6.m t 6.7 t 6.2 t 6.5 t.2 b 6 9 b 9 b.4 t.2 9.2 t.2 9.2 b t.7 b.2 9 t.4 6.2 t 6.3 b.2 t.2 c.a p 6
e.6 t.a b 6 t 6.6 t.3 6.3 t 6.4 t.3 6.2 t 6 t 6.2 t.3 6.2 t.3 6.3 t.3 6.c t.4 9.2 b 9.2 t.3 9.3 t 9.3 b t.2 6 t.6 9
t.e c.a e.3 p.6 m p t.5 b 9.3 b 6.8 t 6.3 t 6.n t 6.g t.2 b 6 b.3 9.4 t b.3 t b.4 t.7 b.2 t 6.3 t.2 6 t.2 6.2 b.2 t.2
c.a t.7 k e.7 p 6 b 9.2 k 6.8 t 6.3 t 6.n t 6.a t 6.5 t.2 b 6 9 b 9.5 t b 9.2 t 9.2 b.2 t.7 9.2 t.6 6.2 t 6.2 b.2 t.2
c.a t 6.2 9 t.c b.2 9.2 6.9 t 6.3 t 6.15 b.2 6 9.3 b.4 t 9.3 t 9.3 b 6 p t.4 6.3 9 e.7 6.3 b.2 t.2 c.a e.9 p 6.6 t b
9.2 t 6.i t.3 6.o t 6.9 t 6 t.2 6.7 t.3 b t.4 9.3 b.3 t b t 9.8 t.6 c.a t.2 9.2 k t.c 6.1c b 6.2 b.7 t.4 m 6.6 5 b.8 k
c.a k.2 t.11 6.2 t 6 t 6.5 t 6.o t 6 t 6.a b 6.2 b.9 6 t.2 6.5 t 5 t b.7 t c.a t.2 6.4 t.w 6 p.3 k.f p k p.3 b.2 p.6
c.a e.a p b p b p b l h l h 9.2 6.8 t 6.10 t.4 b.e 9 b.5 k b.2 6.5 b.b t b.10 t p.8 b p.6 t p.2 k.5 p.4 k.2 t.11 6.17
9.2 b.4 9 b.6 9 b.2 9.2 b.2 6 c.a k.6 6.6 9.2 b.2 6.4 b.3 6 9.3 6.2 9.7 6.3 b.4 6.d b 9.2 b.2 9.6 b 6 9 c.a 9.3 b p.2
8.12 t 8 t.5 8 t.2 4.17 k 5 4.3 6.95 t 6.4 t.2 6.7 t 6 t 6.4 t.2 6.15 t 6.4 t.2 6.x t 6.4 t.2 6.7 t 6 t 6.4 t.2 6.f t
6.1l t 6.4 t.2 6.1v t.2 b.3 k.9 e.k t.3 6.g p.a t.6 8.2e t.2 4.6 t.2 g 6.h8 p k 6.h s 6.q l h t.3 6.23 k.3 d.3 6.8 t.7
6.i b.3 9 t.9 6.j b.2 9 k.2 t.9 6.i b.2 t.c 6.d t 6.3 t b.2 t.c 6.1g b.2 9 b.7 9.8 b 9.2 b.b k.3 5 k.3 m 6 b t.2 c.a
t.6 e.a t.6 k.6 g k.4 b.3 1 b c.a t.6 6.z 5 6.1h t.7 6.5 b.2 6.y b 6 t.5 6.1y t.a 6.v t b.3 9.4 b.2 9.3 t.4 9.2 b 9.6
b.3 t.4 p t.3 k.2 c.a 6.u t.2 6.5 t.b 6.18 t.4 6.q t.6 c.a e t.3 p.y 6.n b.2 9.2 b t.2 k.2 6.1h 9 b 9 b.7 t b 9 b 9.2
b.8 9.6 b.a t.2 b c.a t.6 c.a t.6 k.7 5 k.6 t.2 b.e a b.g t.1d b.4 9 6.1b b 9 b.5 9 b 9.5 b 9.2 6.8 t.3 c.a k.7 p.a
b.9 p.9 k.2 t b.2 9 6.u 9 b.4 9.2 b.2 9 b.3 6.2 c.a 6.18 b 9 b.2 9.3 b 9 b.3 9.2 t.8 k.4 6.10 9.8 b.8 9.2 b.2 t.3 k.5
c.a t.3 6.3 c.a 6.u 5.6 k.2 4.9 t.7 8.17 t.2 8.3 k.8 t.8 b.3 k b.d 9 b.7 6.4 b 6.6 b 6.2 9 b.2 6 t.5 4.18 5.1r 4.d 5
4.y 5.11 b.1s 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4
8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8
4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4.9 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8
4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4
8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4.9 8.8 4.6 t.2 8.6 t.2 4.8 8.8 4.8 8.8 4.6 t.2 8.6 t.2 4.8 t 8 t 8 t 8 t 8 4.8
8.8 4.e t.2 4.8 7.8 4.8 7.8 4.8 7.8 4.5 t 4.2 8.4 7 n 4 n.3 4.3 t 4.2 8.4 7 n.3 4.4 t.2 4.2 8.4 t n.3 4.8 8.5 n.3 t.2
4.3 t 4.2 8.4 7 n.2 t s.b 1.5 g.6 k.2 j i l j.2 i l j k.8 q r 1.5 s k.9 j i k.4 f.2 k.3 o l h k.b o k f k.a s 1.5 t
1.a e 5 t.2 e.6 o.3 l h 5 e.a o.3 l h t 5.d t.3 m.x t.f b.d a.4 b a.3 b.c t.f p.2 8 p.4 8 p.2 4 8.3 4.2 8.3 4 p 8 p.2
o 8.5 p.6 8 p 8 p 8 p 8.4 p 4 8.4 4 6.4 4 p.2 4.2 8.2 o.5 8 4.4 p o p.2 4 p e.g d.z 8 4 d.4 e p.2 t.4 o.5 p.5 o.2 p.4
o p.2 o p.2 o p.7 o p.v o.2 p.2 o p o p.v o.7g p.8 l h l h p.k o.2 p.7 l h p.29 o p.u o.p p.14 o.6 p.1x t.p p.b t.l
e.1o p.26 e.m p.53 o p.9 o p.1i o.8 p.33 o p.6w l h l h l h l h l h l h l h e.u p.18 o.5 l h o.v l h l h l h l h l h
o.g p.74 o.3n l h l h l h l h l h l h l h l h l h l h l h o.1r l h l h o.w l h o.76 p.1c o.l p.2 o.6 p.13 t.2 p.w t
p.2x 8.1c 4.1c 8 4 8.3 4.2 8 4 8 4 8 4 8.4 4 8 4.2 8 4.6 5.2 8.3 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4
8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8
4 8 4 8 4 8 4 8 4 8 4 8 4.2 p.6 8 4 8 4 b.3 8 4 t.5 k.4 e k.2 4.12 t 4 t.5 4 t.2 6.1k t.7 5 k t.e b 6.n t.9 6.7 t 6.7
t 6.7 t 6.7 t 6.7 t 6.7 t 6.7 t 6.7 t b.w k.2 j i j i k.3 j i k j i k.9 g k.2 g k j i k.2 j i l h l h l h l h k.5 5
k.a g.2 k.4 g k l k.d p.2 k.3 l h l h l h l h g t.y p.q t p.2h t.c p.5y t.q p.c t.4 s k.3 p 5 6 d l h l h l h l h l h
p.2 l h l h l h l h g l h.2 p d.9 b.4 9.2 g 5.5 p.2 d.3 5 6 k p.2 t 6.2e t.2 b.2 n.2 5.2 6 g 6.2i k 5.3 6 t.5 6.17 t
6.2m t p.2 e.4 p.a 6.w p.10 t.c 6.g p.v t e.a p.u e.8 p e.f p.w e.a p.13 e.f p.8w 6.534 p.1s 6.g7p 5 6.vr t.3 p.1j t.9
6.14 5.6 k.2 6.7g 5 k.3 6.g c.a 6.2 t.k 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8
4 8 4 8 4 8 4 6 b a.3 k b.a k 5 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 5.2 b.2 6.1y d.a b.2 k.6 t.8
n.n 5.9 n.2 8 4 8 4 8 4 8 4 8 4 8 4 8 4.3 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4
8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 5 4.8 8 4 8 4 8.2 4 8 4 8 4 8 4 8 4 5 n.2 8 4 8 4 6 8 4 8 4.3 8 4 8 4
8 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8.5 4 8.5 4 8 4 8 4 8 4 8 4 8 4 8 4 8 4 8.4 4 8 4 t.5 8 4 t 4 t 4 8 4 8 4 t.o 5.3 8 4
6 5.2 4 6.7 b 6.3 b 6.4 b 6.n 9.2 b.2 9 p.4 b t.3 e.6 p.2 m p t.6 6.1g k.4 t.8 9.2 6.1e 9.g b.2 t.8 k.2 c.a t.6 b.i
6.6 k.3 6 k 6.2 b c.a 6.s b.8 k.2 6.n b.b 9.2 t.b k 6.t t.3 b.3 9 6.1b b 9.2 b.4 9.2 b.2 9.3 k.d t 5 c.a t.4 k.2 6.5 b
5 6.9 c.a 6.5 t 6.15 b.6 9.2 b.2 9.2 b.2 t.9 6.3 b 6.8 b 9 t.2 c.a t.2 k.4 6.g 5 6.6 p.3 6 9 b 9 6.1e b 6 b.3 6.2 b.2
6.5 b.2 6 b 6 t.o 6.2 5 k.2 6.b 9 b.2 9.2 k.2 6 5.2 9 b t.a 6.6 t.2 6.6 t.2 6.6 t.9 6.7 t 6.7 t 4.17 n 5.4 4.9 5 n.2
t.4 4.28 6.z 9.2 b 9.2 b 9.2 k 9 b t.2 c.a t.6 6.8mc t.c 6.n t.4 6.1d t.4 3.1kw 2.4xs 6.a6 t.2 6.2y t.12 4.7 t.c 4.5
t.5 6 b 6.a o 6.d t 6.5 t 6 t 6.2 t 6.2 t 6.30 n.h t.g 6.a3 h l p.g 6.1s t.2 6.1i t.7 p t.w 6.c m p.3 b.g k.7 l h k
t.6 b.g k g.2 f.2 l h l h l h l h l h l h l h l h k.2 l h k.4 f.3 k.3 t k.4 g l h l h l h k.3 o g o.3 t k m k.2 t.4
6.5 t 6.3r t.2 1 t k.3 m k.3 l h k o k g k.2 c.a k.2 o.3 k.2 8.q l k h n f n 4.q l o h o l h k l h k.2 6.a 5 6.19 5.2
6.v t.3 6.6 t.2 6.6 t.2 6.6 t.2 6.3 t.3 m.2 o n p m.2 t p o.4 p.2 t.a 1.3 p.2 t.2 6.c t 6.q t 6.j t 6.2 t 6.f t.2 6.e
t.y 6.3f t.5 k.3 t.4 e.19 t.3 p.9 d.1h e.4 p.h e.2 p.3 t p.d t.3 p t.1b p.19 b t.3m 6.t t.3 6.1d t.f b e.r t.4 6.w e.4
t.9 6.k d 6.8 d t.5 6.12 b.5 t.5 6.u t k 6.10 t.4 6.8 k d.5 t.16 8.14 4.14 6.26 t.2 c.a t.6 8.10 t.4 4.10 t.4 6.14 t.8
6.1g t.b k 8.b t 8.f t 8.7 t 8.2 t 4.b t 4.f t 4.7 t 4.2 t.1v 6.8n t.9 6.m t.a 6.8 t.o 5.6 t 5.16 t 5.9 t.1x 6.6 t.2 6
t 6.18 t 6.2 t.3 6 t.2 6.n t k e.8 6.n p.2 e.7 6.v t.8 e.9 t.1c 6.j t 6.2 t.5 e.5 6.m e.6 t.3 k 6.q t.5 k t.1s 6.1k
t.4 e.2 6.2 e.g t.2 e.1a 6 b.3 t b.2 t.5 b.4 6.4 t 6.3 t 6.t t.2 b.3 t.4 b e.9 t.7 k.9 t.7 6.t e.2 k 6.t e.3 t.w 6.8 p
6.s b.2 t.4 e.5 k.7 t.9 6.1i t.3 k.7 6.m t.2 e.8 6.j t.5 e.8 6.i t.7 k.4 t.c e.7 t.28 6.21 t.1j 8.1f t.d 4.1f t.7 e.6
6.10 b.4 t.8 c.a t.86 e.v t 6.16 t b.2 g t.2 6.2 t.23 b.3 6.t e.a 6 t.8 6.m b.b e.4 k.5 t.m 6.i b.4 k.4 t.12 6.l e.7
t.k 6.n t.9 9 b 9 6.1h b.f k.7 t.4 e.k c.a b 6.2 b.2 6 t.9 b.3 9 6.19 9.3 b.4 9.2 b.2 k.2 1 k.4 b t.a 1 t.2 6.p t.7
c.a t.6 b.3 6.10 b.5 9 b.8 t c.a k.4 6 9.2 6 t.8 6.z b k.2 6 t.9 b.2 9 6.1c 9.3 b.9 9.2 6.4 k.4 b.4 k 9 b c.a 6 k 6
k.3 t e.k t.b 6.i t 6.p 9.3 b.3 9.2 b 9 b.2 k.6 b 6.2 b t.1q 6.7 t 6 t 6.4 t 6.f t 6.a k t.6 6.1b b 9.3 b.8 t.5 c.a
t.6 b.2 9.2 t 6.8 t.2 6.2 t.2 6.m t 6.7 t 6.2 t 6.5 t b.2 6 9.2 b 9.4 t.2 9.2 t.2 9.3 t.2 6 t.6 9 t.5 6.5 9.2 t.2 b.7
t.3 b.5 t.3v 6.1h 9.3 b.8 9.2 b.3 9 b 6.4 k.5 c.a k.2 t k b 6.3 t.u 6.1c 9.3 b.6 9 b 9.4 b.2 9 b.2 6.2 k 6 t.8 c.a
t.4m 6.1b 9.3 b.4 t.2 9.4 b.2 9 b.2 k.n 6.4 b.2 t.y 6.1c 9.3 b.8 9.2 b 9 b.2 k.3 6 t.b c.a t.6 k.d t.j 6.17 b 9 b 9.2
b.6 9 b 6 k t.6 c.a t.1i 6.r t.2 b.3 9.2 b.4 9 b.5 t.4 c.a e.2 k.3 p 6.7 t.55 6.18 9.3 b.9 9 b.2 k t.2s 8.w 4.w c.a
e.9 t.c 6.8 t.2 6 t.2 6.8 t 6.2 t 6.o 9.6 t 9.2 t.2 b.2 9 b 6 9 6 9 b k.3 t.9 c.a t.1y 6.8 t.2 6.13 9.3 b.4 t.2 b.2
9.4 b 6 k 6 9 t.r 6 b.a 6.14 b.6 9 6 b.4 k.8 b t.8 6 b.6 9.2 b.3 6.1a b.d 9 b.2 k.3 6 k.5 t.d 6.21 t.7 k.a t.6u 6.9 t
6.11 9 b.7 t b.6 9 b 6 k.5 t.a c.a e.j t.3 k.2 6.u t.2 b.m t 9 b.7 9 b.2 9 b.2 t.21 6.7 t 6.2 t 6.12 b.6 t.3 b t b.2 t
b.7 6 b t.8 c.a t.6 6.6 t 6.2 t 6.w 9.5 t b.2 t 9.2 b 9 b 6 t.7 c.a t.8m 6.j b.2 9.2 k.2 t.7 b.2 6 9 6.d t 6.y 9.2 b.5
t.3 9.2 b 9 b k.d c.a t.2e 6 t.f e.l p.8 m.4 p.h t.d k 6.pm t.2u d.33 t k.5 t.b 6.5g t.218 6.2p k.2 t.d 6.ts 1.g b 6.6
b.f t.33e 6.g7 t.6nt 6.ft t.7 6.v t c.a t.4 k.2 6.27 t c.a t.6 6.u t.2 b.5 k t.a 6.1c b.7 k.5 p.4 5.4 k p t.a c.a t
e.7 t 6.l t.5 6.j t.j4 8.w 4.w e.n k.4 t.2t 6.23 t.4 b 6 9.1j t.7 b.4 5.d t.1s 5.2 k 5 b t.b 9.2 t.e 6.4qg t.8 6.ye
t.16 6.9 t.6w7 5.4 t 5.7 t 5.2 t 6.83 t.f 6 t.t 6.3 t.2 6 t.e 6.4 t.8 6.b0 t.1s4 6.2z t.5 6.d t.3 6.9 t.7 6.a t.2 p
b.2 k 1.4 t.3mk b.1a t.2 b.n t.9 p.38 t.1o p.6u t.a p.13 t.2 p.1o 9.2 b.3 p.3 9.6 1.8 b.8 p.2 b.7 p.u b.4 p.1p t.l
p.1u b.3 p t.3e e.k t.c e.k t.c p.2f t.9 e.p t.3r 8.q 4.q 8.q 4.7 t 4.i 8.q 4.q 8 t 8.2 t.2 8 t.2 8.2 t.2 8.4 t 8.8
4.4 t 4 t 4.7 t 4.b 8.q 4.q 8.2 t 8.4 t.2 8.8 t 8.7 t 4.q 8.2 t 8.4 t 8.5 t 8 t.3 8.7 t 4.q 8.q 4.q 8.q 4.q 8.q 4.q
8.q 4.q 8.q 4.q 8.q 4.s t.2 8.p o 4.p o 4.6 8.p o 4.p o 4.6 8.p o 4.p o 4.6 8.p o 4.p o 4.6 8.p o 4.p o 4.6 8 4 t.2
c.1e p.e8 b.1j p.4 b.1e p.8 b p.e b p.2 k.5 t.f b.5 t b.f t.uo 4.a 6 4.k t.6 4.6 t.5x b.7 t b.h t.2 b.7 t b.2 t b.5
t.5 5.1q t.x b t.34 6.19 t.3 b.7 5.7 t.2 c.a t.4 6 p t.8w 6.u b t.h 6.18 b.4 c.a t.5 m t.cw 6.r 5 b.4 c.a t.km 6.7 t
6.4 t 6.2 t 6.f t 6.5h t.2 e.9 b.7 t.15 8.y 4.y b.7 5 t.4 c.a t.4 k.2 t.lt e.1n p e.3 m e.4 t.24 e.19 p e.f t.5e 6.4 t
6.r t 6.2 t 6 t.2 6 t 6.a t 6.4 t 6 t 6 t.6 6 t.4 6 t 6 t 6 t 6.3 t 6.2 t 6 t.2 6 t 6 t 6 t 6 t 6 t 6.2 t 6 t.2 6.4 t
6.7 t 6.4 t 6.4 t 6 t 6.a t 6.h t.5 6.3 t 6.5 t 6.h t.1g o.2 t.7i p.18 t.4 p.2s t.c p.f t.2 p.f t p.f t p.11 t.a e.d
p.4h t.1k p.t t.d p.18 t.4 p.9 t.7 p.2 t.e p.6 t.4a p.6z n.5 p.k8 t.4 p.h t.3 p.d t.3 p.3b t.4 p.2n t.6 p.c t.4 p t.f
p.c t.4 p.1k t.8 p.a t.6 p.14 t.8 p.u t.2 p.2 t.26 p.9g t.c p.e t.2 p.d t.3 p.9 t.7 p.1a t p.7 t.8 p.e t.4 p.9 t.7 p.9
t.7 p.43 t p.1j t.11 c.a t.sm 6.wyo t.w 6.37e t.6 6.66 t.2 6.4g2 t.e 6.5rl t.2e7 6.f2 t.15u 6.3t7 t.5 6.38g t.f975 1
t.u 1.2o t.3k b.6o t.1e6o 2.1eke t.2 2.1eke t.2
"""
SCRIPT_RUNS = """
o.1t 1y.q o.6 1y.q o.1b 1y o.f 1y o.5 1y.n o 1y.v o 1y.ch o.13 1y.5 o.5 c.2 o.k 1j.34 17.4 o 17.3 4j.2 17.4 o 17 4j.4
17 o 17 o 17.3 4j 17 4j 17.k 4j 17.1r p.e 17.g t.3p 1j.2 t.4p 4j 4.12 4j.2 4.1e 4j.2 4.3 4j 1g.1j 4j.8 1g.r 4j.4 1g.6
4j.b 3.5 o 3.6 o 3.e o 3.3 o 3.w o 3.a 1j.b 3.q 1j 3.30 o 3.y 3u.e 4j 3u.1o 4j.2 3u.3 3.1c 45.1e 4j.e 2t.1n 4j.2 2t.3
3i.1a 4j.2 3i.f 4j 29.s 4j.2 29 4j 3u.b 4j.5 3.v 4j 3.2 4j.6 3.22 o 3.t v.29 1j.4 v.f o.2 v.q a.4 4j a.8 4j.2 a.2 4j.2
a.m 4j a.7 4j a 4j.3 a.4 4j.2 a.9 4j.2 a.2 4j.2 a.4 4j.8 a 4j.4 a.2 4j a.5 4j.2 a.p 4j.2 1a.3 4j 1a.6 4j.4 1a.2 4j.2
1a.m 4j 1a.7 4j 1a.2 4j 1a.2 4j 1a.2 4j.2 1a 4j 1a.5 4j.4 1a.2 4j.2 1a.3 4j.3 1a 4j.7 1a.4 4j 1a 4j.7 1a.h 4j.a 18.3
4j 18.9 4j 18.3 4j 18.m 4j 18.7 4j 18.2 4j 18.5 4j.2 18.a 4j 18.3 4j 18.3 4j.2 18 4j.f 18.4 4j.2 18.c 4j.7 18.7 4j
37.3 4j 37.8 4j.2 37.2 4j.2 37.m 4j 37.7 4j 37.2 4j 37.5 4j.2 37.9 4j.2 37.2 4j.2 37.3 4j.7 37.3 4j.4 37.2 4j 37.5
4j.2 37.i 4j.a 41.2 4j 41.6 4j.3 41.3 4j 41.4 4j.3 41.2 4j 41 4j 41.2 4j.3 41.2 4j.3 41.3 4j.3 41.c 4j.4 41.5 4j.3
41.3 4j 41.4 4j.2 41 4j.6 41 4j.e 41.l 4j.5 44.d 4j 44.3 4j 44.n 4j 44.g 4j.2 44.9 4j 44.3 4j 44.4 4j.7 44.2 4j 44.3
4j.2 44 4j.2 44.4 4j.2 44.a 4j.7 44.9 1o.d 4j 1o.3 4j 1o.n 4j 1o.a 4j 1o.5 4j.2 1o.9 4j 1o.3 4j 1o.4 4j.7 1o.2 4j.6
1o.2 4j 1o.4 4j.2 1o.a 4j 1o.3 4j.c 28.d 4j 28.3 4j 28.1f 4j 28.3 4j 28.6 4j.4 28.g 4j.2 28.q 4j 3o.3 4j 3o.i 4j.3
3o.o 4j 3o.9 4j 3o 4j.2 3o.7 4j.3 3o 4j.4 3o.6 4j 3o 4j 3o.8 4j.6 3o.a 4j.2 3o.3 4j.c 46.1m 4j.4 o 46.s 4j.11 1x.2 4j
1x 4j 1x.5 4j 1x.o 4j 1x 4j 1x.n 4j.2 1x.5 4j 1x 4j 1x.7 4j 1x.a 4j.2 1x.4 4j.w 47.20 4j 47.10 4j.4 47.13 4j 47.10 4j
47.f 4j 47.7 o.4 47.2 4j.11 2n.4g 13.12 4j 13 4j.5 13 4j.2 13.17 o 13.4 1c.74 12.21 4j 12.4 4j.2 12.7 4j 12 4j 12.4
4j.2 12.15 4j 12.4 4j.2 12.x 4j 12.4 4j.2 12.7 4j 12 4j 12.4 4j.2 12.f 4j 12.1l 4j 12.4 4j.2 12.1v 4j.2 12.w 4j.3 12.q
4j.6 m.2e 4j.2 m.6 4j.2 h.hs 2w.t 4j.3 3h.23 o.3 3h.b 4j.7 3v.m 4j.9 3v 1e.l o.2 4j.9 g.k 4j.c 3w.d 4j 3w.3 4j 3w.2
4j.c 1u.2m 4j.2 1u.a 4j.6 1u.a 4j.6 2k.2 o.2 2k o 2k.k 4j.6 2k.2h 4j.7 2k.17 4j.5 h.1y 4j.a 20.v 4j 20.c 4j.4 20.c
4j.4 20 4j.3 20.c 3x.u 4j.2 3x.5 4j.b 2r.18 4j.4 2r.q 4j.6 2r.b 4j.3 2r.2 1u.w f.s 4j.2 f.2 3y.1r 4j 3y.t 4j.2 3y.b
4j.6 3y.a 4j.6 3y.e 4j.2 1j.v 4j.1d 6.25 4j.3 6.1b 4j 3s.1s 9.1g 4j.8 9.4 1z.1k 4j.3 1z.f 4j.3 1z.3 2x.1c t.9 4j.7
13.17 4j.2 13.3 3s.8 4j.8 1j.3 o 1j.d o 1j.7 o.4 1j o.6 1j o.3 1j.2 o 4j.5 1y.12 17.5 t 1y.1d 17.5 1y.4 17.5 1y.d t
1y.1y 17 1j.1s 1y.74 17.m 4j.2 17.6 4j.2 17.12 4j.2 17.6 4j.2 17.8 4j 17 4j 17 4j 17 4j 17.v 4j.2 17.1h 4j 17.f 4j
17.e 4j.2 17.6 4j 17.j 4j.2 17.3 4j 17.9 4j o.c 1j.2 o.2f 4j o.b 1y 4j.2 o.b 1y o.f 4j 1y.d 4j.3 o.x 4j.f 1j.x 4j.f
o.12 17 o.3 1y.2 o.6 1y o.r 1y o.h 1y.15 o.3 4j.4 o.if 4j.p o.b 4j.l o.ps e.74 o.hg 4j.2 o.w 4j o.2x 14.2o 1y.w p.38
4j.5 p.7 13.12 4j 13 4j.5 13 4j.2 48.1k 4j.7 48.2 4j.e 48 12.n 4j.9 12.7 4j 12.7 4j 12.7 4j 12.7 4j 12.7 4j 12.7 4j
12.7 4j 12.7 4j t.w o.2m 4j.y 1b.q 4j 1b.2h 4j.c 1b.5y 4j.q o.c 4j.4 o.5 1b o 1b o.p 1b.9 1j.4 1c.2 o.8 1b.4 o.4 4j
1h.2e 4j.2 1j.2 o.2 1h.3 o 1p.2i o.2 1p.3 4j.5 c.17 4j 1c.2m 4j o.g c.w o.10 4j.c 1p.g 1c.v 4j o.1s 1c.v o.29 1p.1b o
1p.2g o.4o 1b.534 o.1s 1b.g74 4h.wd 4j.3 4h.1j 4j.9 23.1c 4c.8c 4j.k t.2o 7.2g 4j.8 o.y 1y.2u o.3 1y.1s 4j.5 1y.2 4j
1y 4j 1y.5 4j.o 1y.e 3t.19 4j.3 o.a 4j.6 3d.1k 4j.8 3j.1y 4j.8 3j.c 4j.6 v.w 1r.1a o 1r 3g.10 4j.b 3g 1c.t 4j.3 1m.26
4j o 1m.a 4j.4 1m.2 2n.v 4j l.1j 4j.9 l.e 4j.2 l.a 4j.2 l.4 2n.w 3z.1v 4j.o 3z.5 2e.n 4j.a 12.6 4j.2 12.6 4j.2 12.6
4j.9 12.7 4j 12.7 4j 1y.17 o 1y.9 17 1y.4 o.2 4j.4 m.28 2e.1a 4j.2 2e.a 4j.6 1c.8mc 4j.c 1c.n 4j.4 1c.1d 4j.6is 1b.a6
4j.2 1b.2y 4j.12 1y.7 4j.c 4.5 4j.5 1g.q 4j 1g.5 4j 1g 4j 1g.2 4j 1g.2 4j 1g.a 3.37 4j.g 3.a3 o.2 3.28 4j.2 3.1i 4j.7
3 4j.w 3.g 1j.g o.a 4j.6 1j.e t.2 o.z 4j o.j 4j o.4 4j.4 3.5 4j 3.3r 4j.2 o 4j o.w 1y.q o.6 1y.q o.b 1p.a o 1p.19 o.2
1c.v 4j.3 1c.6 4j.2 1c.6 4j.2 1c.6 4j.2 1c.3 4j.3 o.7 4j o.7 4j.a o.5 4j.2 22.c 4j 22.q 4j 22.j 4j 22.2 4j 22.f 4j.2
22.e 4j.y 22.3f 4j.5 o.3 4j.4 o.19 4j.3 o.9 17.27 4j o.d 4j.3 17 4j.1b o.19 1j 4j.3m 24.t 4j.3 i.1d 4j.f 1j o.r 4j.4
2z.10 4j.9 2z.3 15.r 4j.5 31.17 4j.5 4b.u 4j 4b 32.10 4j.4 32.e 4j.16 u.28 3l.1c 39.u 4j.2 39.a 4j.6 38.10 4j.4 38.10
4j.4 10.14 4j.8 j.1g 4j.b j 4d.b 4j 4d.f 4j 4d.7 4j 4d.2 4j 4d.b 4j 4d.f 4j 4d.7 4j 4d.2 4j.1v 21.8n 4j.9 21.m 4j.a
21.8 4j.o 1y.6 4j 1y.16 4j 1y.9 4j.1x r.6 4j.2 r 4j r.18 4j r.2 4j.3 r 4j.2 r 1i.m 4j 1i.9 3b.w 2o.v 4j.8 2o.9 4j.1c
1f.j 4j 1f.2 4j.5 1f.5 3e.s 4j.3 3e 25.q 4j.5 25 4j.1s 2h.w 2g.o 4j.4 2g.k 4j.2 2g.1a 1s.4 4j 1s.2 4j.5 1s.8 4j 1s.3
4j 1s.t 4j.2 1s.3 4j.4 1s.a 4j.7 1s.9 4j.7 34.w 30.w 4j.w 2a.13 4j.4 2a.c 4j.9 5.1i 4j.3 5.7 1l.m 4j.2 1l.8 1k.j 4j.5
1k.8 3f.i 4j.7 3f.4 4j.c 3f.7 4j.28 35.21 4j.1j 2y.1f 4j.d 2y.1f 4j.7 2y.6 1d.14 4j.8 1d.a 4j.86 3.v 4j 4g.16 4j 4g.3
4j.2 4g.2 4j.23 3.3 33.14 4j.8 3p.16 4j.m 36.q 4j.12 n.s 4j.k 11.n 4j.9 d.26 4j.4 d.10 4j.9 d 1n.1v 4j.a 1n 4j.2 3q.p
4j.7 3q.a 4j.6 k.1h 4j k.i 4j.8 26.13 4j.9 3k.2o 4j 3o.k 4j.b 1v.i 4j 1v.1b 4j.1q 2m.7 4j 2m 4j 2m.4 4j 2m.f 4j 2m.b
4j.6 1w.1n 4j.5 1w.a 4j.6 16.4 4j 16.8 4j.2 16.2 4j.2 16.m 4j 16.7 4j 16.2 4j 16.5 4j 1j 16.9 4j.2 16.2 4j.2 16.3 4j.2
16 4j.6 16 4j.5 16.7 4j.2 16.7 4j.3 16.5 4j.3v 2s.2k 4j 2s.5 4j.u 49.20 4j.8 49.a 4j.4m 3m.1i 4j.2 3m.12 4j.y 2j.1x
4j.b 2j.a 4j.6 2k.d 4j.j 40.1m 4j.6 40.a 4j.1i 1.r 4j.2 1.f 4j.4 1.n 4j.55 x.1o 4j.2s 4f.2b 4j.c 4f w.7 4j.2 w 4j.2
w.8 4j w.2 4j w.u 4j w.2 4j.2 w.c 4j.9 w.a 4j.1y 2q.8 4j.2 2q.1a 4j.2 2q.b 4j.r 4i.20 4j.8 3r.2b 4j.d h.g 3c.1l 4j.7
v.a 4j.6u b.9 4j b.19 4j b.e 4j.a b.t 4j.3 2b.w 4j.2 2b.m 4j 2b.e 4j.21 2c.7 4j 2c.2 4j 2c.18 4j.3 2c 4j 2c.2 4j 2c.9
4j.8 2c.a 4j.6 19.6 4j 19.2 4j 19.11 4j 19.2 4j 19.6 4j.7 19.a 4j.8m 27.p 4j.7 1q.h 4j 1q.15 4j.3 1q.s 4j.2e 23 4j.f
41.1e 4j.d 41 q.pm 4j.2u q.33 4j q.5 4j.b q.5g 4j.218 s.2r 4j.d z.uu 4j.33e 2.g7 4j.6nt 7.ft 4j.7 2l.v 4j 2l.a 4j.4
2l.2 42.27 4j 42.a 4j.6 8.u 4j.2 8.6 4j.a 3a.1y 4j.a 3a.a 4j 3a.7 4j 3a.l 4j.5 3a.j 4j.j4 2d.2j 4j.2t 2i.23 4j.4 2i.1l
4j.7 2i.h 4j.1s 43 2u 1b.2 1t 4j.b 1b.2 4j.e 43.4qg 4j.8 43.lc 1t.d2 4j.16 43.9 4j.6w7 1p.4 4j 1p.7 4j 1p.2 4j 1p
1h.7z 1p.3 4j.f 1h 4j.t 1h.3 4j.2 1p 4j.e 1p.4 4j.8 2u.b0 4j.1s4 y.2z 4j.5 y.d 4j.3 y.9 4j.7 y.a 4j.2 y.4 o.4 4j.3mk
1j.1a 4j.2 1j.n 4j.9 o.38 4j.1o o.6u 4j.a o.13 4j.2 o.1q 1j.3 o.h 1j.8 o.2 1j.7 o.u 1j.4 o.1p 4j.l 17.1y 4j.3e o.k
4j.c o.k 4j.c o.2f 4j.9 o.p 4j.3r o.2d 4j o.1z 4j o.2 4j.2 o 4j.2 o.2 4j.2 o.4 4j o.c 4j o 4j o.7 4j o.1t 4j o.4 4j.2
o.8 4j o.7 4j o.s 4j o.4 4j o.5 4j o 4j.3 o.7 4j o.9g 4j.2 o.84 4j.2 o.1e 3n.i4 4j.f 3n.5 4j 3n.f 4j.uo 1y.v 4j.6 1y.6
4j.5x 14.7 4j 14.h 4j.2 14.7 4j 14.2 4j 14.5 4j.5 t.1q 4j.x t 4j.34 2v.19 4j.3 2v.e 4j.2 2v.a 4j.4 2v.2 4j.8w 4a.v
4j.h 4e.1m 4j.5 4e 4j.cw 2p.16 4j.km 12.7 4j 12.4 4j 12.2 4j 12.f 4j 2f.5h 4j.2 2f.g 4j.15 0.24 4j.4 0.a 4j.4 0.2
4j.lt o.1w 4j.24 o.1p 4j.5e 3.4 4j 3.r 4j 3.2 4j 3 4j.2 3 4j 3.a 4j 3.4 4j 3 4j 3 4j.6 3 4j.4 3 4j 3 4j 3 4j 3.3 4j
3.2 4j 3 4j.2 3 4j 3 4j 3 4j 3 4j 3 4j 3.2 4j 3 4j.2 3.4 4j 3.7 4j 3.4 4j 3.4 4j 3 4j 3.a 4j 3.h 4j.5 3.3 4j 3.5 4j
3.h 4j.1g 3.2 4j.7i o.18 4j.4 o.2s 4j.c o.f 4j.2 o.f 4j o.f 4j o.11 4j.a o.4u 4j.1k o.q 1h o.2 4j.d o.18 4j.4 o.9 4j.7
o.2 4j.e o.6 4j.4a o.rc 4j.4 o.h 4j.3 o.d 4j.3 o.3b 4j.4 o.2n 4j.6 o.c 4j.4 o 4j.f o.c 4j.4 o.1k 4j.8 o.a 4j.6 o.14
4j.8 o.u 4j.2 o.2 4j.26 o.9g 4j.c o.e 4j.2 o.d 4j.3 o.9 4j.7 o.1a 4j o.7 4j.8 o.e 4j.4 o.9 4j.7 o.9 4j.7 o.43 4j o.1j
4j.11 o.a 4j.sm 1b.wyo 4j.w 1b.37e 4j.6 1b.66 4j.2 1b.4g2 4j.e 1b.5rl 4j.2e7 1b.f2 4j.15u 1b.3t7 4j.5 1b.38g 4j.f975 o
4j.u o.2o 4j.3k 1j.6o 4j.47bk
"""

# Characters that differ in case only, in base 36: pairs as `first.count.step.distance`, larger sets as `=a.b.c`.
CASES = """
1t.a.1.w 24.8.2.w 25.3.2.w 2d.3.2.w 5c.g.2.w 5d.2.2.w 5j.8.2.w 61.3.2.w 67.1.1.5vj 73.1.1.3d 74.o.2.1 8i.3.2.1
8p.8.2.1 96.n.2.1 ah.3.2.1 ao.1.1.5f ap.1.1.5u aq.2.2.1 au.1.1.5q av.1.1.1 ax.2.1.5p az.1.1.1 b2.1.1.27 b3.1.1.5m
b4.1.1.5n b5.1.1.1 b7.1.1.5p b8.1.1.5r b9.1.1.2p ba.1.1.5v bb.1.1.5t bc.1.1.1 be.1.1.4j bg.1.1.5v bh.1.1.5x bi.1.1.3m
bj.1.1.5y bk.3.2.1 bq.1.1.62 br.1.1.1 bt.1.1.62 bw.1.1.1 by.1.1.62 bz.1.1.1 c1.2.1.61 c3.2.2.1 c7.1.1.63 c8.1.1.1
cc.1.1.1 cf.1.1.1k ct.8.2.1 da.9.2.1 dw.1.1.1 e0.k.2.1 f6.9.2.1 fu.1.1.8bv fv.1.1.1 fy.1.1.8bs fz.2.1.8cf g1.1.1.1
g4.1.1.1x g5.1.1.1z g6.5.2.1 gg.1.1.8bj gh.1.1.8bg gi.1.1.8bi gs.1.1.wnj gx.1.1.wnf h1.1.1.wmg h2.1.1.wn8 h6.1.1.wn8
h7.1.1.8af h8.1.1.wn5 hd.1.1.8al hp.1.1.89z hu.1.1.wn7 hz.1.1.wmi il.1.1.wlx im.1.1.wlu og.2.2.1 om.1.1.1 or.3.1.3m
ov.1.1.38 p2.1.1.12 p4.3.1.11 p8.1.1.1s pa.2.1.1r pd.2.2.w pg.2.2.w pj.1.1.w pn.3.2.w pq.1.1.w pw.2.1.w pz.2.1.w
q2.2.1.w r3.1.1.8 rc.c.2.1 s2.1.1.7 s7.1.1.1 sa.1.1.1 sg.g.1.28 sw.2.1.w sz.7.2.w t2.4.2.w tc.1.1.w tf.7.1.w tn.5.1.w
v4.1.1.1 v8.f.2.1 wa.r.2.1 xs.1.1.f xt.7.2.1 y8.1c.2.1 10x.12.1.1c 3a8.12.1.5ls 3bb.1.1.5ls 3bh.1.1.5ls 3bk.17.1.2bk
3ct.3.1.2bk 3vk.28.1.tzk 3xs.6.1.8 5tl.1.1.r9g 5tp.1.1.2xy 5u6.1.1.raw 5xc.1c.2.1 602.q.2.1 61s.1c.2.1 64g.8.1.8
64w.6.1.8 65c.8.1.8 65s.8.1.8 668.6.1.8 66p.4.2.8 674.8.1.8 67k.2.1.22 67m.4.1.2e 67q.2.1.2s 67s.2.1.3k 67u.2.1.34
67w.2.1.3i 680.8.1.8 68g.8.1.8 68w.8.1.8 69c.2.1.8 69f.1.1.9 69v.1.1.9 6a8.2.1.8 6ao.2.1.8 6at.1.1.7 6b7.1.1.9
6k2.1.1.s 6lc.g.1.g 6mb.1.1.1 792.q.1.q 8ow.1c.1.1c 8rk.1.1.1 8rr.3.2.1 8s2.1.1.1 8s5.1.1.1 8sg.1e.2.1 8vf.2.2.1
8vm.1.1.1 wu8.5.2.1 wuk.h.2.1 ww0.e.2.1 x0i.7.2.1 x0y.v.2.1 x2x.2.2.1 x32.5.2.1 x3f.1.1.1 x3k.2.2.1 x3o.1.1.1c
x3q.a.2.1 x4j.1.1.ps x4k.8.2.1 x53.2.2.1 x5c.1.1.1 x5i.2.2.1 x6d.1.1.1 1ee9.q.1.w 1fcw.14.1.14 1fhs.10.1.14
1fn4.j.2.13 1fn5.5.2.13 1fnh.7.2.13 1fnx.3.2.13 1fo5.1.1.13 1h1c.1f.1.1s 1jfk.w.1.w 20cg.w.1.w 2olc.y.1.y =23.2z.6ju
=2b.37.an =51.po.qk =5h.6d.6jv =ck.cl.cm =cn.co.cp =cq.cr.cs =dt.du.dv =n9.pl.qh.69q =pe.qa.r4 =ph.qd.s5 =pk.qg.r5.s4
=pm.qi.s0 =ps.qo.ra =pt.qp.s1 =pv.qq.qr =py.qu.r9 =q1.qx.6jq =sy.tu.5mo =t0.tw.5mp =ta.u6.5mq =td.u9.5mr
=te.ua.5ms.5mt =tm.ui.5mu =v6.v7.5mv =5mw.wui.wuj =600.601.61n
"""
