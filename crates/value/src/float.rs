//! Floating-point helpers shared by hashing and comparison.

/// The integer equal to a float, if it has one that fits 64 bits.
pub(crate) fn as_i64(f: f64) -> Option<i64> {
    // 2^63 itself is not representable as i64, hence the half-open upper bound.
    let whole = f.fract() == 0.0
        && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f);
    #[allow(clippy::cast_possible_truncation)]
    whole.then_some(f as i64)
}
