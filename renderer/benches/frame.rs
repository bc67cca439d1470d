//! Measures the time to build and paint frames on the CPU, and on the GPU if the machine has an adapter (a software
//! adapter counts). Copying the same number of pixels is the lower bound for every painter. The ratios compare medians
//! of one run, because absolute times differ between machines.

#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use support::{attrs, colored, pane, plain, row, run, scene, snapshot};
use unterm_renderer::{CpuPainter, FontOptions, GpuPainter, Renderer};
use unterm_term::{Attrs, Snapshot};

const COLS: u16 = 160;
const ROWS: u16 = 48;

/// A screen like those of `ls`, an editor and a log: words in color, few blanks, a glyph in almost every cell.
fn screen(revision: u64) -> Snapshot {
    let rows: Vec<_> = (0..ROWS)
        .map(|i| {
            vec![
                run(&format!("{:>4} ", u64::from(i) + revision % 7), colored(3, 0)),
                run("drwxr-xr-x  2 user group  4096 ", colored((i % 8) as u8, 0)),
                plain("The quick brown fox jumps over the lazy dog; "),
                run("fn main() -> Result<(), Error> { ", attrs(Attrs::BOLD)),
                plain("│ ─┼─ and so on to the end of the line, without a gap │"),
            ]
        })
        .collect();
    let mut snapshot = snapshot(COLS, &rows);
    snapshot.rows.iter_mut().for_each(|row| row.revision = revision);
    snapshot
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The median of `rounds` timings of `work`. The time of `prepare` is not measured.
fn time<T>(rounds: u64, mut prepare: impl FnMut(u64) -> T, mut work: impl FnMut(T)) -> Duration {
    median(
        (1..=rounds)
            .map(|round| {
                let input = prepare(round);
                let start = Instant::now();
                work(input);
                start.elapsed()
            })
            .collect(),
    )
}

#[allow(clippy::print_stdout, reason = "a bench reports there")]
fn main() {
    let start = Instant::now();
    let mut renderer = Renderer::new(FontOptions::default());
    let new = start.elapsed();
    let first = screen(1);
    let start = Instant::now();
    renderer.frame(&scene(pane(&first, renderer.metrics())));
    let cold = start.elapsed();
    let frame = renderer.last_frame().clone();
    let pixels = (frame.width * frame.height) as usize;
    let mut buffer = vec![0u32; pixels];

    let other = vec![0x0012_3456u32; pixels];
    let copy = time(200, |_| (), |()| black_box(&mut buffer).copy_from_slice(black_box(&other)));
    let metrics = renderer.metrics();

    let build = time(
        100,
        |round| screen(round + 10),
        |snapshot| {
            renderer.frame(&scene(pane(&snapshot, metrics)));
        },
    );
    let paint = time(
        100,
        |_| (),
        |()| {
            black_box(CpuPainter::picture(&mut renderer));
        },
    );

    let mut painter = CpuPainter::new();
    painter.paint(&mut renderer, &mut buffer, 0);
    let mut shown = screen(110);
    renderer.frame(&scene(pane(&shown, metrics)));
    painter.paint(&mut renderer, &mut buffer, 1);
    let one = time(
        1000,
        |round| {
            let text = format!("{round} {}", "typed text ".repeat(12));
            row(20, round + 1000, COLS, &[plain(&text)])
        },
        |row| {
            shown.rows[20] = row;
            renderer.frame(&scene(pane(&shown, metrics)));
            black_box(painter.paint(&mut renderer, &mut buffer, 1));
        },
    );
    let mut line = u64::from(ROWS);
    let scroll = time(
        200,
        |round| format!("{round} {}", "printed text ".repeat(11)),
        |text| {
            shown.rows.remove(0);
            shown.rows.push(row(line, line + 9000, COLS, &[plain(&text)]));
            line += 1;
            renderer.frame(&scene(pane(&shown, metrics)));
            black_box(painter.paint(&mut renderer, &mut buffer, 1));
        },
    );

    let gpu = GpuPainter::offscreen().ok().map(|mut gpu| {
        let paint = |renderer: &mut Renderer, gpu: &mut GpuPainter| {
            gpu.paint(renderer);
            gpu.finish().expect("the device waits");
        };
        let shown = screen(9_999);
        renderer.frame(&scene(pane(&shown, metrics)));
        paint(&mut renderer, &mut gpu);
        let whole = time(
            50,
            |round| screen(round + 10_000),
            |snapshot| {
                renderer.frame(&scene(pane(&snapshot, metrics)));
                paint(&mut renderer, &mut gpu);
            },
        );
        let mut shown = screen(20_000);
        let one = time(
            200,
            |round| {
                let text = format!("{round} {}", "typed text ".repeat(12));
                row(20, round + 30_000, COLS, &[plain(&text)])
            },
            |row| {
                shown.rows[20] = row;
                renderer.frame(&scene(pane(&shown, metrics)));
                paint(&mut renderer, &mut gpu);
            },
        );
        (gpu.adapter(), whole, one)
    });

    let ratio = |time: Duration| time.as_secs_f64() / copy.as_secs_f64();
    println!("{COLS}×{ROWS} cells, {}×{} pixels, CPU painter", frame.width, frame.height);
    println!("renderer made          {new:>10.1?}");
    println!("first frame, no glyphs {cold:>10.1?}");
    println!("copy of the pixels     {copy:>10.1?}   1.00 (the floor)");
    for (name, time) in [
        ("build, all rows new   ", build),
        ("paint whole           ", paint),
        ("one row: build + paint", one),
        ("scroll: build + paint ", scroll),
    ] {
        println!("{name} {time:>10.1?} {:>6.2}", ratio(time));
    }
    if let Some((adapter, whole, one)) = gpu {
        println!("{adapter}, until it is painted");
        for (name, time) in [("all rows: build + paint", whole), ("one row: build + paint ", one)] {
            println!("{name} {time:>10.1?} {:>6.2}", ratio(time));
        }
    }
}
