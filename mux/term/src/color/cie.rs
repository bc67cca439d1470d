//! Colors by light intensity instead of a monitor's values: `rgbi:` and the device-independent forms of XParseColor(3).
//!
//! The formulas are from CIE 15 and Tektronix' TekHVC. The resulting values depend on the monitor. Without a monitor
//! profile, X11 assumes the monitor measured in libX11's src/xcms/LRGB.c. This module uses the same data, so that it
//! gives the same answers as xterm.

use crate::Rgb;

type Vector = [f64; 3];

/// CIE XYZ of red, green and blue at full intensity, and the inverse (libX11's default monitor).
const XYZ_OF_RGB: [Vector; 3] = [
    [0.3810614914871479, 0.3202571236535211, 0.248345785259331],
    [0.2072974511514085, 0.6805463877637324, 0.1121561610848592],
    [0.02133944350088028, 0.1429719302024648, 1.241728926296655],
];
const RGB_OF_XYZ: [Vector; 3] = [
    [3.48340481253539, -1.521763749272852, -0.5592313335404978],
    [-1.071527513061936, 1.965937952043724, 0.03673691339553462],
    [0.06351179790497788, -0.2002050100049648, 0.8107094203164822],
];

/// Intensities of a channel by its value (the same monitor). These are as many measured points as linear interpolation
/// needs to stay within a tenth of a step of all of them. Intensity 0 has the value 0.
type Curve = &'static [(u8, f64)];
#[rustfmt::skip]
const CURVES: [Curve; 3] = [
    &[(9, 0.0), (10, 0.000936), (15, 0.001481), (20, 0.002329), (25, 0.003529), (30, 0.005127), (35, 0.007169),
        (40, 0.009699), (45, 0.012759), (50, 0.016392), (55, 0.020637), (60, 0.025533), (65, 0.031119),
        (70, 0.037431), (75, 0.044504), (80, 0.052373), (85, 0.061069), (90, 0.070624), (95, 0.08107),
        (100, 0.092433), (105, 0.104744), (110, 0.118026), (115, 0.132307), (120, 0.14761), (125, 0.163958),
        (130, 0.181371), (135, 0.199871), (140, 0.219475), (145, 0.240202), (150, 0.262069), (155, 0.285089),
        (160, 0.309278), (165, 0.334647), (170, 0.361208), (175, 0.388971), (180, 0.417945), (190, 0.479555),
        (200, 0.546082), (210, 0.617552), (220, 0.693971), (230, 0.775322), (240, 0.861571), (250, 0.952662),
        (255, 1.0)],
    &[(19, 0.0), (20, 0.000832), (25, 0.001998), (30, 0.003612), (35, 0.005736), (40, 0.008428), (45, 0.011745),
        (50, 0.01574), (55, 0.020463), (60, 0.02596), (65, 0.032275), (70, 0.039449), (75, 0.047519), (80, 0.05652),
        (85, 0.066484), (90, 0.077439), (95, 0.089409), (100, 0.102418), (105, 0.116485), (110, 0.131625),
        (115, 0.147853), (120, 0.165176), (125, 0.183604), (130, 0.20314), (135, 0.223783), (140, 0.245533),
        (145, 0.268384), (150, 0.292327), (155, 0.317351), (165, 0.37058), (175, 0.427919), (185, 0.489165),
        (195, 0.554067), (205, 0.622324), (220, 0.730225), (235, 0.843491), (255, 1.0)],
    &[(14, 0.0), (15, 0.001341), (20, 0.00208), (25, 0.003188), (30, 0.004729), (35, 0.006766), (40, 0.009357),
        (45, 0.012559), (50, 0.016424), (55, 0.021004), (60, 0.026344), (65, 0.032489), (70, 0.039481),
        (75, 0.047357), (80, 0.056154), (85, 0.065903), (90, 0.076634), (95, 0.088373), (100, 0.101145),
        (105, 0.114968), (110, 0.129862), (115, 0.145841), (120, 0.162915), (125, 0.181095), (130, 0.200386),
        (135, 0.220791), (140, 0.242309), (145, 0.264937), (150, 0.28867), (155, 0.313499), (160, 0.33941),
        (170, 0.394421), (180, 0.453547), (190, 0.516587), (200, 0.583291), (210, 0.653361), (225, 0.764013),
        (240, 0.880093), (255, 1.0)],
];

/// Intensities beyond the monitor's range by less than this count as its limit.
const TOLERANCE: f64 = 0.001;

/// Parses the three numbers after the lower-case name of a form. Returns `None` for an unknown form or an impossible
/// color.
pub(super) fn parse(form: &str, numbers: &str) -> Option<Rgb> {
    let mut parts = numbers.split('/').map(|number| number.trim().parse::<f64>().ok());
    let [a, b, c] = [parts.next()??, parts.next()??, parts.next()??];
    if parts.next().is_some() || ![a, b, c].iter().all(|number| number.is_finite()) {
        return None;
    }
    let xyz = match form {
        "rgbi" => return shown([a, b, c]),
        "ciexyz" => [a, b, c],
        "cieuvy" => from_uv([a, b], c),
        "ciexyy" => {
            let d = 12.0 * b - 2.0 * a + 3.0;
            from_uv([4.0 * a / d, 9.0 * b / d], c)
        }
        "cielab" => from_lab(a, b, c),
        "cieluv" => {
            let scale = 0.13 * a;
            let [u, v] = white_uv();
            let uv = if a == 0.0 { [u, v] } else { [u + b / scale, v + c / scale] };
            from_uv(uv, luminance(a))
        }
        "tekhvc" => from_hvc(a, b, c),
        _ => return None,
    };
    let in_range = (0.0..=1.0 + TOLERANCE).contains(&xyz[1]);
    shown(within_gamut(xyz)).filter(|_| in_range)
}

fn times(matrix: &[Vector; 3], vector: Vector) -> Vector {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

fn white() -> Vector {
    times(&XYZ_OF_RGB, [1.0; 3])
}

/// Chromaticity u′v′ (CIE 1976).
fn uv([x, y, z]: Vector) -> [f64; 2] {
    let d = x + 15.0 * y + 3.0 * z;
    [4.0 * x / d, 9.0 * y / d]
}

fn white_uv() -> [f64; 2] {
    uv(white())
}

fn from_uv([u, v]: [f64; 2], luminance: f64) -> Vector {
    let d = 6.0 * u - 16.0 * v + 12.0;
    let (x, y) = (9.0 * u / d, 4.0 * v / d);
    [x * luminance / y, luminance, (1.0 - x - y) * luminance / y]
}

/// The luminance of a lightness (L*, and V of TekHVC) of 0–100.
fn luminance(lightness: f64) -> f64 {
    if lightness < 7.99953624 { lightness / 903.29 } else { ((lightness + 16.0) / 116.0).powi(3) }
}

/// CIELAB with Xlib's scales: `a` divided by 5, `b` by 2, and Xlib's slope for dark colors.
fn from_lab(l: f64, a: f64, b: f64) -> Vector {
    let root = (l + 16.0) / 116.0;
    let [x, _, z] = white();
    if root.powi(3) < 0.008856 {
        let y = l / 9.03292;
        return [x * (a / 3893.5 + y), y, z * (y - b / 1557.4)];
    }
    [x * (root + a / 5.0).powi(3), root.powi(3), z * (root - b / 2.0).powi(3)]
}

/// TekHVC: hue in degrees from the best red, value and chroma.
fn from_hvc(hue: f64, value: f64, chroma: f64) -> Vector {
    const BEST_RED: [f64; 2] = [0.7127, 0.4931];
    const CHROMA_SCALE: f64 = 7.50725;
    let [u, v] = white_uv();
    if value <= 0.0 || value >= 100.0 {
        return from_uv([u, v], f64::from(value > 0.0));
    }
    let angle = ((BEST_RED[1] - v) / (BEST_RED[0] - u)).atan() + hue.to_radians();
    let radius = chroma / (value * CHROMA_SCALE);
    from_uv([u + angle.cos() * radius, v + angle.sin() * radius], luminance(value))
}

/// The nearest intensities that the monitor can show: same hue and luminance, less chroma.
fn within_gamut(xyz: Vector) -> Vector {
    let intensities = |xyz| times(&RGB_OF_XYZ, xyz);
    let fits = |rgb: &Vector, slack: f64| rgb.iter().all(|c| (-slack..=1.0 + slack).contains(c));
    let rgb = intensities(xyz);
    if fits(&rgb, TOLERANCE) {
        return rgb;
    }
    if xyz[1] >= 1.0 {
        return [1.0; 3];
    }
    let ([u, v], [white_u, white_v]) = (uv(xyz), white_uv());
    let at = |part: f64| {
        from_uv([white_u + (u - white_u) * part, white_v + (v - white_v) * part], xyz[1])
    };
    let (mut inside, mut outside) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = (inside + outside) / 2.0;
        if fits(&intensities(at(middle)), 0.0) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    intensities(at(inside))
}

/// The channel values of intensities, clamped to 0–1.
fn shown(rgb: Vector) -> Option<Rgb> {
    let [r, g, b] = [0, 1, 2].map(|channel| value(CURVES[channel], rgb[channel]));
    Some(Rgb { r: r?, g: g?, b: b? })
}

fn value(curve: Curve, intensity: f64) -> Option<u8> {
    if intensity.is_nan() {
        return None;
    }
    if intensity <= 0.0 {
        return Some(0);
    }
    let steps = curve.iter().zip(&curve[1..]);
    let mut values = steps.filter(|(_, high)| intensity <= high.1).map(|(low, high)| {
        let part = (intensity - low.1) / (high.1 - low.1);
        (f64::from(low.0) + f64::from(high.0 - low.0) * part).round() as u8
    });
    Some(values.next().unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What xterm 379 returns for these colors, according to esctest2.
    #[test]
    fn every_form_is_what_xlib_makes_of_it() {
        for (form, ones, halves) in [
            ("rgbi", 0xffffff, 0xc1bbbb),
            ("ciexyz", 0xffffff, 0xddb5a0),
            ("cieuvy", 0xffffff, 0xffa3ae),
            ("ciexyy", 0xffffff, 0xf7b30e),
            ("cielab", 0x6c6767, 0x524f4f),
            ("cieluv", 0x16140e, 0x0e130e),
            ("tekhvc", 0x1a130f, 0x11130e),
        ] {
            assert_eq!(parse(form, "1/1/1"), Some(Rgb::hex(ones)), "{form}");
            assert_eq!(parse(form, "0.5/0.5/0.5"), Some(Rgb::hex(halves)), "{form}");
            // Extreme numbers must not panic.
            for numbers in
                ["0/0/0", "-1/-1/-1", "1e300/1e300/1e300", "0/1/0", "1/0/1e-300", "100/100/100"]
            {
                let _ = parse(form, numbers);
            }
            for numbers in ["", "1/1", "1/1/1/1", "nan/0/0", "inf/0/0", "a/b/c"] {
                assert_eq!(parse(form, numbers), None, "{form}:{numbers}");
            }
        }
        assert_eq!(parse("cielab", "100/0/0"), Some(Rgb::hex(0xffffff)));
        assert_eq!(parse("tekhvc", "0/100/0"), Some(Rgb::hex(0xffffff)));
        assert_eq!(parse("tekhvc", "0/0/0"), Some(Rgb::hex(0x000000)));
        assert_eq!(parse("rgbi", "2/-1/0"), Some(Rgb::hex(0xff0000)));
    }
}
