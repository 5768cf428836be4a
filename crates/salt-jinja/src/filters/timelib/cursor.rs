//! Numbers and words of one piece, from left to right.

/// A place in a piece.
pub struct Cursor<'t> {
    pub rest: &'t [u8],
}

impl<'t> Cursor<'t> {
    pub fn next(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    pub fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self.next().is_some_and(&is_skipped) {
            self.rest = &self.rest[1..];
        }
    }

    fn take(&mut self, most: usize, is_taken: impl Fn(u8) -> bool) -> &'t [u8] {
        let taken = self.rest.iter().take(most);
        let length = taken.take_while(|byte| is_taken(**byte)).count();
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// The next number, of so many digits at most; `None` if there is none.
    pub fn number(&mut self, digits: usize) -> Option<i64> {
        self.skip(|byte| !byte.is_ascii_digit());
        let digits = self.take(digits, |byte| byte.is_ascii_digit());
        let value = |so_far: i64, digit: &u8| {
            so_far
                .saturating_mul(10)
                .saturating_add(i64::from(digit - b'0'))
        };
        (!digits.is_empty()).then(|| digits.iter().fold(0, value))
    }

    /// The next number, with any signs.
    pub fn signed(&mut self) -> Option<i64> {
        let is_sign = |byte: u8| matches!(byte, b'+' | b'-');
        self.skip(|byte| !byte.is_ascii_digit() && !is_sign(byte));
        let signs = self.take(usize::MAX, is_sign);
        let is_negative = signs.iter().filter(|sign| **sign == b'-').count() % 2 == 1;
        let number = self.number(24)?;
        Some(if is_negative { -number } else { number })
    }

    /// A fraction, which does not count: this many characters of it are read.
    pub fn fraction(&mut self, most: usize) {
        self.take(most, |byte| byte == b'.' || byte.is_ascii_digit());
    }

    /// The letters that follow, in lower case.
    pub fn word(&mut self) -> String {
        let word = self.take(usize::MAX, |byte| byte.is_ascii_alphabetic());
        String::from_utf8_lossy(word).to_lowercase()
    }

    /// The text up to one of these.
    pub fn until(&mut self, ends: &[u8]) -> String {
        let word = self.take(usize::MAX, |byte| !ends.contains(&byte));
        String::from_utf8_lossy(word).into_owned()
    }
}
