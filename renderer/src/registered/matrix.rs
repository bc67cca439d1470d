//! Affine transformations.

/// `[a, b, c, d, e, f]` maps (x, y) to (a·x + c·y + e, b·x + d·y + f).
pub(super) type Matrix = [f32; 6];

pub(super) fn map(m: &Matrix, (x, y): (f32, f32)) -> (f32, f32) {
    (m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5])
}

/// The matrix that applies `inner` and then `outer`.
pub(super) fn after(outer: &Matrix, inner: &Matrix) -> Matrix {
    let (a, b) = (outer, inner);
    [
        a[0] * b[0] + a[2] * b[1],
        a[1] * b[0] + a[3] * b[1],
        a[0] * b[2] + a[2] * b[3],
        a[1] * b[2] + a[3] * b[3],
        a[0] * b[4] + a[2] * b[5] + a[4],
        a[1] * b[4] + a[3] * b[5] + a[5],
    ]
}

/// The inverse of a matrix, if it has one.
pub(super) fn inverse(m: &Matrix) -> Option<Matrix> {
    let determinant = m[0] * m[3] - m[1] * m[2];
    let [a, b, c, d] = [m[3], -m[1], -m[2], m[0]].map(|value| value / determinant);
    let made = [a, b, c, d, -(a * m[4] + c * m[5]), -(b * m[4] + d * m[5])];
    made.iter().all(|value| value.is_finite()).then_some(made)
}
