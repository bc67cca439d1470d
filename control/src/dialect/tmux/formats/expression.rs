//! Arithmetic: `#{e|+|:1,2}`.

/// The result of an operator. `flags`: `f` calculates with fractions. `digits`: the number of digits after the point.
/// `None` if the operator or an operand is invalid.
pub fn value(operator: &str, flags: &str, digits: &str, left: &str, right: &str) -> Option<String> {
    let is_exact = flags.contains('f');
    let digits: usize = match digits {
        "" if is_exact => 2,
        "" => 0,
        digits => digits.parse().ok().filter(|digits| *digits <= 100)?,
    };
    let operand = |text: &str| text.trim().parse::<f64>().ok();
    let (mut left, mut right) = (operand(left)?, operand(right)?);
    if !is_exact {
        (left, right) = (left.trunc(), right.trunc());
    }
    let flag = |value: bool| f64::from(u8::from(value));
    let result = match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        "%" | "m" => left % right,
        "==" => flag((left - right).abs() < 1e-9),
        "!=" => flag((left - right).abs() >= 1e-9),
        "<" => flag(left < right),
        ">" => flag(left > right),
        "<=" => flag(left <= right),
        ">=" => flag(left >= right),
        _ => return None,
    };
    // Without fractions, tmux converts the result to a C `long long`, which has this value if it does not fit.
    let result = match is_exact {
        false if !result.is_finite() => i64::MIN as f64,
        false => result.trunc(),
        true => result,
    };
    Some(format!("{result:.digits$}"))
}
