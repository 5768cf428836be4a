//! The generator of Python's `random` module, seeded as Python seeds it: the same seed draws the same numbers.
//!
//! ```rust
//! use mapstack_pyobject::random::Twister;
//!
//! // random.seed('abc'); random.randrange(100)
//! assert_eq!(Twister::seeded("abc").below(100), 98);
//! ```

use crate::{Error, Obj, Result, as_index, repr};
use mapstack_value::Int;
use rand_mt::Mt;
use sha2::{Digest, Sha512};

/// The generator of Python's `random` module, MT19937.
pub struct Twister(Mt);

impl Twister {
    /// `random.Random(text)`.
    ///
    /// ```
    /// use mapstack_pyobject::random::Twister;
    /// assert_eq!(Twister::seeded("abc").below(100), 98);
    /// ```
    #[must_use]
    pub fn seeded(text: &str) -> Self {
        Self::from_bytes(text.as_bytes())
    }

    /// A generator that depends on an object alone, by its `repr()`.
    #[must_use]
    pub fn of_input(x: &Obj) -> Self {
        Self::seeded(&repr(x).unwrap_or_else(|_| "?".into()))
    }

    /// `random.seed(seed)` and a new generator.
    ///
    /// # Errors
    /// A `TypeError` for what Python does not accept as a seed, and for `None`, since results are deterministic here.
    pub fn from_seed(seed: &Obj) -> Result<Self> {
        match seed {
            Obj::Str(s) | Obj::Markup(s) => Ok(Self::seeded(s)),
            Obj::Bytes(bytes) => Ok(Self::from_bytes(bytes)),
            Obj::Int(_) | Obj::Bool(_) => Ok(Self::from_int(
                &as_index(seed).unwrap_or(Int::from(0)).abs(),
            )),
            Obj::Float(f) if !f.is_nan() => Ok(Self::from_int(&hash_float(*f))),
            Obj::Undefined(u) => Err(u.error()),
            _ => Err(Error::type_error(
                "The only supported seed types are: None, int, float, str, bytes, and bytearray.",
            )),
        }
    }

    fn from_bytes(seed: &[u8]) -> Self {
        // The number whose big-endian digits are the text and its hash.
        let mut bytes = seed.to_vec();
        bytes.extend(Sha512::digest(seed));
        bytes.reverse();
        let mut key: Vec<u32> = bytes
            .chunks(4)
            .map(|four| {
                four.iter()
                    .rev()
                    .fold(0, |word, byte| word << 8 | u32::from(*byte))
            })
            .collect();
        while key.len() > 1 && key.last() == Some(&0) {
            key.pop();
        }
        Twister(Mt::new_with_key(key))
    }

    fn from_int(seed: &Int) -> Self {
        let digits = seed.to_str_radix(16);
        let words = digits.as_bytes().rchunks(8).map(|word| {
            let word = std::str::from_utf8(word).unwrap_or_default();
            u32::from_str_radix(word, 16).unwrap_or(0)
        });
        Twister(Mt::new_with_key(words.collect::<Vec<_>>()))
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// An integer below `n`, of any size; 0 unless `n` is positive.
    pub fn below_int(&mut self, n: &Int) -> Int {
        if n.is_negative() || n.is_zero() {
            return Int::from(0);
        }
        let bits = n.to_str_radix(2).len();
        loop {
            let mut digits = String::new();
            for word in 0..bits.div_ceil(32) {
                let unwanted = 32 - (bits - 32 * word).min(32);
                digits.insert_str(0, &format!("{:08x}", self.word() >> unwanted));
            }
            match Int::from_str_radix(&digits, 16) {
                Some(drawn) if drawn < *n => return drawn,
                _ => {}
            }
        }
    }

    /// A number below `n`, which is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        let bits = usize::BITS - n.leading_zeros();
        loop {
            let word = match bits {
                0 => 0,
                1..=32 => u64::from(self.word() >> (32 - bits)),
                _ => u64::from(self.word()) | u64::from(self.word() >> (64 - bits)) << 32,
            };
            match usize::try_from(word) {
                Ok(drawn) if drawn < n => return drawn,
                _ => {}
            }
        }
    }
}

/// Python's `hash(x)` of a number that is not `nan`, as an unsigned integer of 64 bits.
fn hash_float(x: f64) -> Int {
    // The value of the fraction modulo the Mersenne prime 2**61 - 1.
    const BITS: i32 = 61;
    const MODULUS: u128 = (1 << BITS) - 1;
    let magnitude = if x.is_infinite() {
        314_159
    } else {
        let raw = x.abs().to_bits();
        let (mut exponent, mut fraction) = (
            i32::try_from(raw >> 52).unwrap_or(0),
            u128::from(raw & ((1 << 52) - 1)),
        );
        if exponent == 0 {
            exponent = 1;
        } else {
            fraction |= 1 << 52;
        }
        // Multiplying by a power of two is a rotation of 61 bits.
        let turn = (exponent - 1075).rem_euclid(BITS);
        let reduced = fraction % MODULUS;
        ((reduced << turn) & MODULUS) | (reduced >> (BITS - turn))
    };
    let magnitude = u64::try_from(magnitude).unwrap_or(0);
    let hash = if x.is_sign_negative() {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    // The hash -1 means an error in C.
    Int::from(if hash == u64::MAX { u64::MAX - 1 } else { hash })
}
