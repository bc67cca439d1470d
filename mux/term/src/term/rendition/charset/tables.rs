//! The available character sets: their names and their characters.
//!
//! Sources: names and levels, xterm ctlseqs "Designate G0 Character Set", DEC VT510 manual "SCS". DEC Special Graphic:
//! DEC STD 070, VT100 user guide table 3-9. Technical: VT330 manual. Replacement sets: VT220 pocket guide, VT330 manual
//! table 2-1; the Greek set is ELOT 927, the Russian set KOI-7, the Serbo-Croatian set ISO-IR 141, as in xterm. DEC's
//! Cyrillic, Greek, Hebrew and Turkish: Digital ANSI-compliant printing protocol, level 2 (EK-PPLV2-PM). All others:
//! ISO 8859, JIS X 0201.

/// How a set maps 0x20–0x7f.
pub(super) enum Map {
    /// Every character stands for itself.
    Ascii,
    /// Pairs of a character and its replacement; all other characters stand for themselves.
    Replaced(&'static str),
    /// Every character is replaced.
    Whole(&'static [char; 96]),
    /// The set assigned by DECAUPSS.
    Preferred,
}

/// An available set.
pub(super) struct Set {
    /// The end of the designating sequence: an intermediate byte or 0, and the final byte.
    pub name: [u8; 2],
    /// Other final bytes for the same set.
    pub aliases: &'static [u8],
    /// A set of 96 characters: designated by `-`, `.`, `/` instead of `(`, `)`, `*`, `+`.
    pub is_96: bool,
    /// A national replacement set, available only while DECNRCM is set.
    pub national: bool,
    /// The levels (DECSCL) that include it.
    pub levels: std::ops::RangeInclusive<u8>,
    pub map: Map,
}

const fn set(intermediate: u8, end: u8, since: u8, map: Map) -> Set {
    let (is_96, national) = (false, false);
    Set { name: [intermediate, end], aliases: &[], is_96, national, levels: since..=5, map }
}

const fn set_96(end: u8, since: u8, map: Map) -> Set {
    Set { is_96: true, ..set(0, end, since, map) }
}

const fn national(intermediate: u8, end: u8, since: u8, replaced: &'static str) -> Set {
    Set { national: true, ..set(intermediate, end, since, Map::Replaced(replaced)) }
}

/// A set with all characters of these texts, concatenated: 0x20–0x7f.
macro_rules! whole {
    ($($text:literal),* $(,)?) => { Map::Whole(const { &characters(concat!($($text),*)) }) };
}

/// The characters of `text`, which must have exactly 96.
const fn characters(text: &str) -> [char; 96] {
    let (bytes, mut map, mut at, mut place) = (text.as_bytes(), ['\0'; 96], 0, 0);
    while at < bytes.len() {
        let lead = bytes[at] as u32;
        let (mut code, len) = match lead {
            0x00..=0x7f => (lead, 1),
            0x80..=0xdf => (lead & 0x1f, 2),
            _ => (lead & 0x0f, 3),
        };
        let mut i = 1;
        while i < len {
            code = code << 6 | bytes[at + i] as u32 & 0x3f;
            i += 1;
        }
        map[place] = match char::from_u32(code) {
            Some(c) => c,
            None => panic!("no character"),
        };
        at += len;
        place += 1;
    }
    assert!(place == 96);
    map
}

/// The index of ASCII in [`SETS`], also used for every unknown name.
pub(super) const ASCII: u8 = 0;
/// The index of DEC Supplemental.
pub(super) const SUPPLEMENTAL: u8 = 2;
/// The index of the set that DECAUPSS assigns.
pub(super) const PREFERRED: u8 = 3;

/// The index of a VT52's graphics, which no sequence designates.
pub(super) const VT52_GRAPHICS: u8 = 4;

/// The sets. Undefined characters are U+2426, as in xterm.
#[rustfmt::skip]
pub(super) static SETS: &[Set] = &[
    set(0, b'B', 1, Map::Ascii),
    set(0, b'0', 1, whole!(
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^ ",
        "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·\x7f")),
    set(b'%', b'5', 3, whole!( // DEC Supplemental
        " ¡¢£␦¥␦§¤©ª«␦␦␦␦°±²³␦µ¶·␦¹º»¼½␦¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏ␦ÑÒÓÔÕÖŒØÙÚÛÜŸ␦ß",
        "àáâãäåæçèéêëìíîï␦ñòóôõöœøùúûüÿ␦\x7f")),
    set(0, b'<', 2, Map::Preferred),
    // Unicode lacks 3/, 5/ and 7/. Source: DECscope user's guide.
    Set { levels: 0..=0, ..set(0, 0, 0, whole!(
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]  ",
        " ▮⅟   °±→…÷↓⎺⎺⎻⎻⎼⎼⎽⎽₀₁₂₃₄₅₆₇₈₉¶\x7f")) },
    set(0, b'A', 1, Map::Replaced("#£")), // United Kingdom
    set(0, b'>', 3, whole!( // DEC Technical; Unicode lacks the parts of a large sigma
        " ⎷┌─⌠⌡│⎡⎣⎤⎦⎧⎩⎫⎭⎨⎬␦␦␦␦␦␦␦␦␦␦␦≤≠≥∫∴∝∞÷Δ∇ΦΓ∼≃Θ×Λ⇔⇒≡ΠΨ␦Σ␦␦√ΩΞΥ⊂⊃∩∪∧∨",
        "¬αβχδεφγηιθκλ␦ν∂πψρστ␦ƒωξυζ←↑→↓\x7f")),
    Set { levels: 3..=3, ..set(0, b'I', 3, whole!( // JIS Katakana
        " ｡｢｣､･ｦｧｨｩｪｫｬｭｮｯｰｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜﾝﾞﾟ",
        "␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦\x7f")) },
    Set { levels: 3..=3, ..set(0, b'J', 3, Map::Replaced("\\¥~‾")) }, // JIS Roman
    set(b'&', b'4', 5, whole!( // DEC Cyrillic
        " ␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦юабцдефгхийклмнопярстужвьызшэщчъ",
        "ЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧ\x7f")),
    set(b'"', b'?', 5, whole!( // DEC Greek
        " ¡¢£␦¥␦§¤©ª«␦␦␦␦°±²³␦µ¶·␦¹º»¼½␦¿ϊΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟ␦ΠΡΣΤΥΦΧΨΩάέήί␦ό",
        "ϋαβγδεζηθικλμνξο␦πρστυφχψωςύώ΄␦\x7f")),
    set(b'"', b'4', 5, whole!( // DEC Hebrew
        " ¡¢£␦¥␦§¨©×«␦␦␦␦°±²³␦µ¶·␦¹÷»¼½␦¿␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦",
        "אבגדהוזחטיךכלםמןנסעףפץצקרשת␦␦␦␦\x7f")),
    set(b'%', b'0', 5, whole!( // DEC Turkish
        " ¡¢£␦¥␦§¨©ª«␦␦İ␦°±²³␦µ¶·␦¹º»¼½ı¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖŒØÙÚÛÜŸŞß",
        "àáâãäåæçèéêëìíîïğñòóôõöœøùúûüÿş\x7f")),
    Set { national: true, ..set_96(b'A', 3, Map::Replaced("#£")) },
    set_96(b'A', 3, whole!( // ISO Latin-1
        "\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß",
        "àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ")),
    set_96(b'B', 5, whole!( // ISO Latin-2
        "\u{a0}Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u{ad}ŽŻ°ą˛ł´ľśˇ¸šşťź˝žżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢß",
        "ŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙")),
    set_96(b'F', 5, whole!( // ISO Greek, ISO 8859-7:2003
        "\u{a0}‘’£€₯¦§¨©ͺ«¬\u{ad}␦―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ␦ΣΤΥΦΧΨΩΪΫάέήί",
        "ΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ␦")),
    set_96(b'H', 5, whole!( // ISO Hebrew
        "\u{a0}␦¢£¤¥¦§¨©×«¬\u{ad}®¯°±²³´µ¶·¸¹÷»¼½¾␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦‗",
        "אבגדהוזחטיךכלםמןנסעףפץצקרשת␦␦␦␦␦")),
    set_96(b'L', 5, whole!( // ISO Cyrillic
        "\u{a0}ЁЂЃЄЅІЇЈЉЊЋЌ\u{ad}ЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмноп",
        "рстуфхцчшщъыьэюя№ёђѓєѕіїјљњћќ§ўџ")),
    set_96(b'M', 5, whole!( // ISO Latin-5
        "\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞß",
        "àáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ")),
    national(0, b'4', 2, "#£@¾[ĳ\\½]|{¨|ƒ}¼~´"), // Dutch
    Set { aliases: b"5", ..national(0, b'C', 2, "[Ä\\Ö]Å^Ü`é{ä|ö}å~ü") }, // Finnish
    Set { aliases: b"f", ..national(0, b'R', 2, "#£@à[°\\ç]§{é|ù}è~¨") }, // French
    Set { aliases: b"9", ..national(0, b'Q', 2, "@à[â\\ç]ê^î`ô{é|ù}è~û") }, // French Canadian
    national(0, b'K', 2, "@§[Ä\\Ö]Ü{ä|ö}ü~ß"), // German
    national(0, b'Y', 2, "#£@§[°\\ç]é`ù{à|ò}è~ì"), // Italian
    Set { aliases: b"6`", ..national(0, b'E', 2, "@Ä[Æ\\Ø]Å^Ü`ä{æ|ø}å~ü") }, // Norwegian and Danish
    national(b'%', b'6', 3, "[Ã\\Ç]Õ{ã|ç}õ"), // Portuguese
    national(0, b'Z', 2, "#£@§[¡\\Ñ]¿{°|ñ}ç"), // Spanish
    Set { aliases: b"7", ..national(0, b'H', 2, "@É[Ä\\Ö]Å^Ü`é{ä|ö}å~ü") }, // Swedish
    national(0, b'=', 2, "#ù@à[é\\ç]ê^î_è`ô{ä|ö}ü~û"), // Swiss
    national(b'%', b'2', 5, "&ğ@İ[Ş\\Ö]Ç^Ü`Ğ{ş|ö}ç~ü"), // Turkish
    national(b'%', b'3', 5, "@Ž[Š\\Đ]Ć^Č`ž{š|đ}ć~č"), // Serbo-Croatian
    national(b'"', b'>', 5, // Greek
        "aΑbΒcΓdΔeΕfΖgΗhΘiΙjΚkΛlΜmΝnΧoΟpΠqΡrΣsΤtΥuΦvΞwΨxΩy␦z␦"),
    national(b'%', b'=', 5, // Hebrew
        "`אaבbגcדdהeוfזgחhטiיjךkכlלmםnמoןpנqסrעsףtפuץvצwקxרyשzת"),
    national(b'&', b'5', 5, // Russian
        "`ЮaАbБcЦdДeЕfФgГhХiИjЙkКlЛmМnНoОpПqЯrРsСtТuУvЖwВxЬyЫzЗ{Ш|Э}Щ~Ч"),
];
