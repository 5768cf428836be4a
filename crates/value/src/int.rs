//! Python's integers: 64 bits while they fit, exact beyond.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

/// An integer of any size.
///
/// ```
/// use mapstack_value::Int;
/// let big: Int = "100000000000000000000".parse().unwrap();
/// assert_eq!(big.to_string(), "100000000000000000000");
/// assert_eq!(Int::from(-7).floor_div(&Int::from(2)).unwrap(), Int::from(-4));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Int(Repr);

/// `Big` is only ever a number outside the range of `i64`, so derived equality is exact.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Arc<BigInt>),
}

/// An error of integer arithmetic, worded as Python words it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArithmeticError {
    /// Division or modulo by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A result too large to be worth computing; it would exhaust memory.
    #[error("the result has more than {limit} bits")]
    TooLarge {
        /// The largest number of bits a result may have.
        limit: u64,
    },
    /// An integer with no floating-point counterpart.
    #[error("int too large to convert to float")]
    FloatOverflow,
}

/// Results of `*`, `**` and `<<` beyond this size are refused rather than computed.
const MAX_BITS: u64 = 1 << 17;

impl Int {
    /// The number as `i64`, if it fits.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(i) => Some(*i),
            Repr::Big(_) => None,
        }
    }

    /// The nearest float, or an error for a number that is too large (`float(10**400)`).
    ///
    /// # Errors
    /// [`ArithmeticError::FloatOverflow`] when the number exceeds the range of `f64`.
    pub fn to_f64(&self) -> Result<f64, ArithmeticError> {
        match &self.0 {
            #[allow(clippy::cast_precision_loss)]
            Repr::Small(i) => Ok(*i as f64),
            Repr::Big(b) => match b.to_f64() {
                Some(f) if f.is_finite() => Ok(f),
                _ => Err(ArithmeticError::FloatOverflow),
            },
        }
    }

    /// The integer part of a finite float (`int(f)`).
    #[must_use]
    pub fn from_f64(f: f64) -> Option<Self> {
        num_traits::FromPrimitive::from_f64(f.trunc()).map(|b: BigInt| b.into())
    }

    /// Parse digits in a base, with an optional sign; no underscores.
    #[must_use]
    pub fn from_str_radix(digits: &str, radix: u32) -> Option<Self> {
        if let Ok(i) = i64::from_str_radix(digits, radix) {
            return Some(i.into());
        }
        let body = digits.strip_prefix(['+', '-']).unwrap_or(digits);
        if body.is_empty() || body.starts_with(['+', '-', '_']) || body.contains('_') {
            return None;
        }
        BigInt::parse_bytes(digits.as_bytes(), radix).map(Into::into)
    }

    /// Digits in a base between 2 and 36, lower case, with a leading `-` when negative.
    #[must_use]
    pub fn to_str_radix(&self, radix: u32) -> String {
        self.big().to_str_radix(radix)
    }

    /// True if the number is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0 == Repr::Small(0)
    }

    /// True if the number is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small(i) => *i < 0,
            Repr::Big(b) => b.is_negative(),
        }
    }

    /// The number as an arbitrary-precision integer.
    #[must_use]
    pub fn big(&self) -> BigInt {
        match &self.0 {
            Repr::Small(i) => BigInt::from(*i),
            Repr::Big(b) => (**b).clone(),
        }
    }

    /// The number of bits that the number takes, without its sign.
    ///
    /// ```
    /// use mapstack_value::Int;
    /// assert_eq!((Int::from(-1).bits(), Int::from(2).pow(100).unwrap().bits()), (1, 101));
    /// ```
    #[must_use]
    pub fn bits(&self) -> u64 {
        match &self.0 {
            Repr::Small(i) => u64::from(64 - i.unsigned_abs().leading_zeros()),
            Repr::Big(b) => b.bits(),
        }
    }

    /// `a + b`.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        match (self.to_i64(), other.to_i64()) {
            (Some(a), Some(b)) => a
                .checked_add(b)
                .map_or_else(|| (self.big() + other.big()).into(), Into::into),
            _ => (self.big() + other.big()).into(),
        }
    }

    /// `a - b`.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        match (self.to_i64(), other.to_i64()) {
            (Some(a), Some(b)) => a
                .checked_sub(b)
                .map_or_else(|| (self.big() - other.big()).into(), Into::into),
            _ => (self.big() - other.big()).into(),
        }
    }

    /// `-a`.
    #[must_use]
    pub fn neg(&self) -> Self {
        Self::from(0).sub(self)
    }

    /// `abs(a)`.
    #[must_use]
    pub fn abs(&self) -> Self {
        if self.is_negative() {
            self.neg()
        } else {
            self.clone()
        }
    }

    /// `a * b`.
    ///
    /// # Errors
    /// [`ArithmeticError::TooLarge`] when the product would be enormous.
    pub fn mul(&self, other: &Self) -> Result<Self, ArithmeticError> {
        if let (Some(a), Some(b)) = (self.to_i64(), other.to_i64())
            && let Some(product) = a.checked_mul(b)
        {
            return Ok(product.into());
        }
        limited(self.bits() + other.bits())?;
        Ok((self.big() * other.big()).into())
    }

    /// `a // b`, rounding towards minus infinity as Python does.
    ///
    /// # Errors
    /// [`ArithmeticError::DivisionByZero`].
    pub fn floor_div(&self, other: &Self) -> Result<Self, ArithmeticError> {
        Ok(self.div_mod(other)?.0)
    }

    /// `a % b`, with the sign of the divisor as in Python.
    ///
    /// # Errors
    /// [`ArithmeticError::DivisionByZero`].
    pub fn modulo(&self, other: &Self) -> Result<Self, ArithmeticError> {
        Ok(self.div_mod(other)?.1)
    }

    fn div_mod(&self, other: &Self) -> Result<(Self, Self), ArithmeticError> {
        if other.is_zero() {
            return Err(ArithmeticError::DivisionByZero);
        }
        if let (Some(a), Some(b)) = (self.to_i64(), other.to_i64())
            && let (Some(quotient), Some(rest)) = (a.checked_div(b), a.checked_rem(b))
        {
            // Both round towards zero.
            return Ok(if rest != 0 && (rest < 0) != (b < 0) {
                ((quotient - 1).into(), (rest + b).into())
            } else {
                (quotient.into(), rest.into())
            });
        }
        let (a, b) = (self.big(), other.big());
        let (mut quotient, mut rest) = (&a / &b, &a % &b);
        if !rest.is_zero() && rest.is_negative() != b.is_negative() {
            quotient -= 1;
            rest += b;
        }
        Ok((quotient.into(), rest.into()))
    }

    /// `a ** b` for a non-negative exponent.
    ///
    /// # Errors
    /// [`ArithmeticError::TooLarge`] when the power would be enormous.
    pub fn pow(&self, exponent: u32) -> Result<Self, ArithmeticError> {
        limited(self.bits().saturating_mul(u64::from(exponent)))?;
        Ok(self.big().pow(exponent).into())
    }
}

fn limited(bits: u64) -> Result<(), ArithmeticError> {
    if bits > MAX_BITS {
        Err(ArithmeticError::TooLarge { limit: MAX_BITS })
    } else {
        Ok(())
    }
}

macro_rules! from_primitive {
    ($($t:ty),*) => {$(
        impl From<$t> for Int {
            fn from(i: $t) -> Self {
                i64::try_from(i).map_or_else(|_| BigInt::from(i).into(), |i| Int(Repr::Small(i)))
            }
        }
    )*};
}
from_primitive!(
    i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, i128, u128
);

impl From<BigInt> for Int {
    fn from(b: BigInt) -> Self {
        b.to_i64()
            .map_or_else(|| Int(Repr::Big(Arc::new(b))), |i| Int(Repr::Small(i)))
    }
}

impl FromStr for Int {
    type Err = InvalidInt;

    /// Decimal digits with an optional sign.
    fn from_str(s: &str) -> Result<Self, InvalidInt> {
        Self::from_str_radix(s, 10).ok_or(InvalidInt)
    }
}

/// The text is not a decimal integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a decimal integer")]
pub struct InvalidInt;

impl Ord for Int {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            _ => self.big().cmp(&other.big()),
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Int {
    /// Compare with a float without losing digits, as Python does; `None` for NaN.
    #[must_use]
    pub fn compare_float(&self, f: f64) -> Option<Ordering> {
        if f.is_nan() {
            return None;
        }
        if f.is_infinite() {
            return Some(if f > 0.0 {
                Ordering::Less
            } else {
                Ordering::Greater
            });
        }
        let whole = Self::from_f64(f)?;
        Some(self.cmp(&whole).then_with(|| {
            if f.fract() > 0.0 {
                Ordering::Less
            } else if f.fract() < 0.0 {
                Ordering::Greater
            } else {
                Ordering::Equal
            }
        }))
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(i) => i.fmt(f),
            Repr::Big(b) => b.fmt(f),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
