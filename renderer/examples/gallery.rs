//! Draws samples of everything the renderer supports into PNG files for inspection:
//! `cargo run --example gallery -- FOLDER [FAMILY…]`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::Arc;

use support::{attrs, colored, pane, plain, run, scene, snapshot, underlined};
use unterm_renderer::{
    Blending, CpuPainter, FontOptions, Label, LabelAlign, PaneScene, PixelRect, Preedit, Quad,
    Renderer, TextOptions,
};
use unterm_term::{
    Attrs, Color, Cursor, CursorShape, LineId, LineSize, Link, Point, Rgb, TextRange, Underline,
};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder to write into");
    let families: Vec<_> = arguments.collect();
    for (pixels, scale) in [(9.0, 1.0), (13.0, 1.0), (16.0, 1.0), (13.0, 2.0), (24.0, 1.0)] {
        let families = families.clone();
        let size = pixels * 0.75;
        let options = FontOptions { families, size, scale, ..FontOptions::default() };
        let mut renderer = Renderer::new(options);
        let page = Page { folder: Path::new(&folder), name: format!("{pixels}px@{scale}"), scale };
        text(&mut renderer, &page);
        boxes(&mut renderer, &page);
        looks(&mut renderer, &page);
        rows(&mut renderer, &page);
        mosaics(&mut renderer, &page);
        blending(&mut renderer, &page);
    }
}

/// The folder and file name of a picture, and the scale of its chrome.
struct Page<'a> {
    folder: &'a Path,
    name: String,
    scale: f32,
}

fn save(renderer: &mut Renderer, page: &Page<'_>, name: &str) {
    let png = CpuPainter::png(renderer).expect("encode");
    let file = format!("{name}-{}.png", page.name);
    std::fs::write(page.folder.join(file), png).expect("write");
}

/// Every symbol for legacy computing, and the private use characters that are drawn in code.
fn mosaics(renderer: &mut Renderer, page: &Page<'_>) {
    let codes: Vec<u32> = [
        0x1fb00..=0x1fbff,
        0x1cc1b..=0x1cc3f,
        0x1cd00..=0x1cde5,
        0x1ce00..=0x1ce19,
        0x1ce51..=0x1ceaf,
        0xe0b0..=0xe0d7,
        0xee00..=0xee0b,
        0xf5d0..=0xf60d,
        0x25e2..=0x25e5,
    ]
    .into_iter()
    .flatten()
    .collect();
    let rows: Vec<_> = codes
        .chunks(32)
        .flat_map(|codes| {
            let chars = codes.iter().filter_map(|code| char::from_u32(*code));
            let text: String = chars.flat_map(|c| [c, ' ']).collect();
            [vec![plain(&text)], vec![plain("")]]
        })
        .chain(["\u{1cc30}\u{1cc31}\u{1cc32}\u{1cc33} \u{1cc35}\u{1cc36} \u{f5d6}\u{f5d0}\u{f5f4}\u{f5d7} \u{ee03}\u{ee04}\u{ee01}\u{ee02}", "\u{1cc34}  \u{1cc37} \u{1cc39}\u{1cc3a} \u{f5fb}  \u{f5d1} \u{1fb95}\u{1fb95}\u{1fb98}\u{1fb98}\u{1fb99}\u{1fb99}", "\u{1cc38}  \u{1cc3b}    \u{f5d8}\u{f5e7}\u{f5d0}\u{f5d9} \u{1fb95}\u{1fb95}\u{1fb98}\u{1fb98}\u{1fb99}\u{1fb99}", "\u{1cc3c}\u{1cc3d}\u{1cc3e}\u{1cc3f}"].map(|line| vec![plain(line)]))
        .collect();
    let snapshot = snapshot(66, &rows);
    renderer.frame(&scene(pane(&snapshot, renderer.metrics())));
    save(renderer, page, "mosaics");
}

/// Text in many colors, blended both ways, and with a minimum contrast.
fn blending(renderer: &mut Renderer, page: &Page<'_>) {
    let line = |text: &str| -> Vec<_> {
        [(7, 0), (0, 7), (1, 2), (2, 1), (4, 0), (3, 4), (8, 0), (16, 231)]
            .into_iter()
            .map(|(a, b)| run(text, colored(a, b)))
            .collect()
    };
    let rows = vec![line("sphinx "), line("▓▒░ ╱╲ "), line("Quartz ")];
    for (name, blending, minimum_contrast) in [
        ("native", Blending::Native, 1.0),
        ("linear", Blending::Linear, 1.0),
        ("contrast", Blending::Native, 4.5),
    ] {
        let snapshot = snapshot(60, &rows);
        renderer.set_text(TextOptions { blending, minimum_contrast, ..TextOptions::default() });
        renderer.frame(&scene(pane(&snapshot, renderer.metrics())));
        save(renderer, page, name);
    }
    renderer.set_text(TextOptions::default());
}

/// Rows of double size, and ligatures.
fn rows(renderer: &mut Renderer, page: &Page<'_>) {
    let double = vec![
        run("Double ", colored(2, 0)),
        run("wide", underlined(Underline::Curly, Color::Indexed(1))),
        plain(" 中文 🎉 ┌─┐ => á"),
    ];
    let rows = vec![
        vec![plain("a single line, as any other: The quick brown fox")],
        double.clone(),
        double.clone(),
        double.clone(),
        vec![plain("-> => != == === <= >= |> :: ++ www <!-- --> /* */ // && || ~> <=> 0xff")],
        vec![run("=", colored(1, 0)), run(">", colored(2, 0)), plain(" -> selected --> here")],
        vec![run("bold -> != ", attrs(Attrs::BOLD)), run("italic -> != ", attrs(Attrs::ITALIC))],
    ];
    let mut snapshot = snapshot(72, &rows);
    snapshot.rows[1].size = LineSize::DoubleWidth;
    snapshot.rows[2].size = LineSize::DoubleTop;
    snapshot.rows[3].size = LineSize::DoubleBottom;
    snapshot.cursor = Cursor { visible: true, row: 4, col: 3, ..Cursor::default() };
    let point = |line, col| Point { line: LineId(line), col };
    let selection = TextRange { start: point(2, 3), end: point(5, 14), block: true };
    let pane = PaneScene { selection: Some(selection), ..pane(&snapshot, renderer.metrics()) };
    renderer.frame(&scene(pane));
    save(renderer, page, "rows");
}

fn text(renderer: &mut Renderer, page: &Page<'_>) {
    let rgb = |hex| {
        run(
            "truecolor ",
            unterm_term::Style { foreground: Color::Rgb(Rgb::hex(hex)), ..Default::default() },
        )
    };
    let rows = vec![
        vec![plain("The quick brown fox jumps over the lazy dog 0123456789")],
        vec![plain("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ -> => != === <= >= |> :: www")],
        vec![
            run("bold ", attrs(Attrs::BOLD)),
            run("italic ", attrs(Attrs::ITALIC)),
            run("bold italic ", attrs(Attrs::BOLD | Attrs::ITALIC)),
            run("dim ", attrs(Attrs::DIM)),
            run("strike", attrs(Attrs::STRIKE)),
            plain(" "),
            run("overline", attrs(Attrs::OVERLINE)),
            plain(" "),
            run("reverse", attrs(Attrs::REVERSE)),
            run("hidden", attrs(Attrs::HIDDEN)),
        ],
        vec![plain("Ünïcödé àéîõü ßæœø ĄĆĘŁŃ Ελληνικά Кириллица ∀∃∈∑∞≠≤≥ ←↑→↓ ✓✗★")],
        vec![plain("combining: e\u{301} a\u{30a} o\u{308}\u{304} n\u{303}  x\u{336}y\u{336}  Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢")],
        vec![plain("中文字符 日本語テスト かな カナ 한국어 全角ＡＢＣ 「」、。")],
        vec![plain("emoji: 😀🎉🚀❤️ ☺️ ⚡ ✨ 👍🏽 👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇯🇵 1️⃣ ❤ ☺ ")],
        vec![plain("VS15 ⚡︎ ❤︎ VS16 ☎️ ✂️ keycap #️⃣ 9️⃣ flags 🇦🇶 🇽🇽 🏴󠁧󠁢󠁷󠁬󠁳󠁿 ZWJ 🧑‍🚀 👩‍❤️‍👨 🐻‍❄️ none 👽‍🚒 👋🏿 |")],
        vec![plain("नमस्ते क्षत्रिय हिन्दी संस्कृत | ไทย ภาษาไทย | தமிழ் | مرحبا سلام |")],
        vec![plain("עברית العربية हिन्दी ไทย  \u{f31b}\u{e0a0} \u{10ffff}|")],
        vec![rgb(0xff8800), rgb(0x00ff88), rgb(0x8800ff), run(" red on blue ", colored(1, 4))],
        (0..16).map(|i| run("███", colored(i, 0))).collect(),
        (0..32).map(|i| run("  ", colored(7, 16 + i * 6))).collect(),
        vec![
            run("中文 bold", attrs(Attrs::BOLD)),
            plain(" "),
            run("中文 italic fi", attrs(Attrs::ITALIC)),
        ],
    ];
    let snapshot = snapshot(72, &rows);
    renderer.frame(&scene(pane(&snapshot, renderer.metrics())));
    save(renderer, page, "text");
}

fn boxes(renderer: &mut Renderer, page: &Page<'_>) {
    let lines = [
        "┌─┬─┐ ┏━┳━┓ ╔═╦═╗ ╭─┬─╮ ╒═╤═╕ ╓─╥─╖ ┍━┯━┑ ┎─┰─┒  ╱╲╳ ╴╵╶╷ ╸╹╺╻ ╼╽╾╿",
        "│ │ │ ┃ ┃ ┃ ║ ║ ║ │ │ │ │ │ │ ║ ║ ║ │ │ │ ┃ ┃ ┃  ╲╱  ┄┄┄┄ ┅┅┅┅ ┈┈┈┈ ┉┉┉┉",
        "├─┼─┤ ┣━╋━┫ ╠═╬═╣ ├─┼─┤ ╞═╪═╡ ╟─╫─╢ ┝━┿━┥ ┠─╂─┨  ╌╌╌ ╍╍╍ ┆┇┊┋╎╏",
        "│ │ │ ┃ ┃ ┃ ║ ║ ║ │ │ │ │ │ │ ║ ║ ║ │ │ │ ┃ ┃ ┃  ┆┇┊┋╎╏",
        "└─┴─┘ ┗━┻━┛ ╚═╩═╝ ╰─┴─╯ ╘═╧═╛ ╙─╨─╜ ┕━┷━┙ ┖─┸─┚  ┞┟┡┢┦┧┩┪┭┮┱┲┵┶┹┺┽┾╀╁╃╄╅╆╇╈╉╊",
        "▁▂▃▄▅▆▇█ ▏▎▍▌▋▊▉█ ▔▕ ▀▄ ▌▐ ░░▒▒▓▓██ ▖▗▘▙▚▛▜▝▞▟",
        "⠁⠂⠄⡀⠈⠐⠠⢀ ⣿⣿⣿ ⡇⢸ ⣀⣤⣶⣿ ⠿⠛⠉ ⢎⡱⢎⡱",
        "\u{e0b0}\u{e0b1}\u{e0b2}\u{e0b3} \u{e0b4}\u{e0b5}\u{e0b6}\u{e0b7} \u{e0b8}\u{e0b9}\u{e0ba}\u{e0bb}\u{e0bc}\u{e0bd}\u{e0be}\u{e0bf} 🬀🬁🬂🬃🬄🬅🬆🬇🬈🬉🬊🬋🬌🬍🬎🬏🬐🬑🬒🬓🬔🬕🬖🬗🬘🬙🬚🬛🬜🬝🬞🬟🬠🬡🬢🬣🬤🬥🬦🬧🬨🬩🬪🬫🬬🬭🬮🬯🬰🬱🬲🬳🬴🬵🬶🬷🬸🬹🬺🬻",
        "╔══════════════ /usr/src ══════════════╗╔═══════════════ ~ ════════════╗",
        "║.n      Name      │  Size  │Modify time║║.n     Name     │Size│Modify time║",
        "║/..               │  UP--DIR│Nov 21 22:1║║~core.c         │  12│Nov 21 22:1║",
        "╟──────────────────┴────────┴───────────╢╟────────────────┴────┴───────────╢",
        "║UP--DIR                                ║║~core.c                          ║",
        "╚═══════════════════ 12G/40G (30%) ═════╝╚═════════════ 12G/40G (30%) ═════╝",
        "▛▀▀▜ ▐█▌ ▗▄▖ ████",
        "▌  ▐ ▐█▌ ▐█▌ ████",
        "▙▄▄▟ ▐█▌ ▝▀▘ ████",
    ];
    let rows: Vec<_> = lines.iter().map(|line| vec![plain(line)]).collect();
    let snapshot = snapshot(84, &rows);
    renderer.frame(&scene(pane(&snapshot, renderer.metrics())));
    save(renderer, page, "boxes");
}

fn looks(renderer: &mut Renderer, page: &Page<'_>) {
    let scale = page.scale;
    let link = Arc::new(Link { id: String::new(), uri: "https://example.org".into() });
    let mut linked = plain("hovered link");
    linked.link = Some(link.clone());
    let red = Color::Indexed(1);
    let rows = vec![
        vec![
            run("single jumpy", underlined(Underline::Single, Color::Default)),
            plain(" "),
            run("double jumpy", underlined(Underline::Double, Color::Default)),
            plain(" "),
            run("curly jumpy", underlined(Underline::Curly, red)),
            plain(" "),
            run("dotted jumpy", underlined(Underline::Dotted, red)),
            plain(" "),
            run("dashed jumpy", underlined(Underline::Dashed, red)),
        ],
        vec![
            run("中文 curly", underlined(Underline::Curly, red)),
            plain(" "),
            run("中文 dashed", underlined(Underline::Dashed, red)),
            plain(" "),
            linked,
        ],
        vec![plain("selected from here, over 中文 and")],
        vec![
            run("colors  ", colored(2, 0)),
            run("reverse ", attrs(Attrs::REVERSE)),
            plain("to here, not this"),
        ],
        vec![plain("the cursor stands at the end of this line: ab")],
        vec![plain("")],
    ];
    let selection = TextRange {
        start: Point { line: LineId(2), col: 14 },
        end: Point { line: LineId(3), col: 22 },
        block: false,
    };
    let cursors = [
        (CursorShape::Block, 4, 43, true),
        (CursorShape::Bar, 4, 43, true),
        (CursorShape::Underline, 4, 43, true),
        (CursorShape::Block, 1, 0, true),
        (CursorShape::Block, 4, 43, false),
    ];
    let preedit = Preedit { text: "にほんご".into(), cursor: Some((12, 12)) };
    let snapshots: Vec<_> = cursors
        .iter()
        .map(|(shape, row, col, _)| {
            let mut snapshot = snapshot(66, &rows);
            snapshot.cursor =
                Cursor { row: *row, col: *col, visible: true, shape: *shape, blinking: false };
            snapshot
        })
        .collect();
    let metrics = renderer.metrics();
    let mut all = scene(pane(&snapshots[0], metrics));
    all.panes.clear();
    let mut y = (30.0 * scale) as u32;
    for (i, snapshot) in snapshots.iter().enumerate() {
        let mut pane = pane(snapshot, metrics);
        pane.id = i as u64;
        pane.area.y = y as i32;
        pane.origin.1 += y as i32;
        pane.selection = Some(selection);
        pane.hovered_link = Some(&link);
        pane.focused = cursors[i].3;
        pane.dim = if pane.focused { 0.0 } else { 0.1 };
        pane.preedit = (i == 1).then_some(&preedit);
        y += pane.area.height + 1;
        all.panes.push(pane);
    }
    all.height = y;
    let px = |v: f32| (v * scale) as u32;
    for (i, (title, align)) in [
        ("Left title — ~/src/unterm", LabelAlign::Left),
        ("Centered", LabelAlign::Center),
        ("A right title that is far too long for its tab", LabelAlign::Right),
    ]
    .into_iter()
    .enumerate()
    {
        let rect = PixelRect {
            x: px(10.0 + 200.0 * i as f32) as i32,
            y: px(4.0) as i32,
            width: px(190.0),
            height: px(22.0),
        };
        all.quads.push(Quad { rect, color: Rgb::hex(0x313244), alpha: 1.0, radius: 4.0 * scale });
        all.labels.push(Label {
            rect,
            text: title.into(),
            color: Rgb::hex(0xcdd6f4),
            size: 13.0 * scale,
            bold: i == 1,
            align,
            ..Label::default()
        });
    }
    let panel =
        PixelRect { x: px(300.0) as i32, y: px(150.0) as i32, width: px(300.0), height: px(90.0) };
    all.quads.push(Quad {
        rect: panel,
        color: Rgb::hex(0x89b4fa),
        alpha: 0.6,
        radius: 8.0 * scale,
    });
    renderer.frame(&all);
    save(renderer, page, "looks");
}
