//! The amount that a command says on standard error.

use std::cell::Cell;

/// Limit on the messages that are printed one by one. More are not read, and a tree can have any number of files with the
/// same mistake.
const MOST_MESSAGES: usize = 500;
/// Limit on the bytes of everything that is said on standard error. The message that reaches it is the last one.
const MOST_BYTES: usize = 1 << 20;

/// The messages of a command so far, and how many were left out for being too much.
#[derive(Debug, Default)]
pub(super) struct Allowance {
    /// The number of messages that were printed one by one.
    messages: Cell<usize>,
    bytes: Cell<usize>,
    left_out: Cell<usize>,
}

impl Allowance {
    /// True if there is room for a message. Otherwise it is left out.
    pub fn has_message(&self) -> bool {
        let has = self.messages.get() < MOST_MESSAGES;
        match has {
            true => self.messages.set(self.messages.get() + 1),
            false => self.leave_out(),
        }
        has
    }

    /// True if there is room for bytes; else a message is left out.
    pub fn has_bytes(&self) -> bool {
        let has = self.bytes.get() < MOST_BYTES;
        if !has {
            self.leave_out();
        }
        has
    }

    fn leave_out(&self) {
        self.left_out.set(self.left_out.get() + 1);
    }

    /// Take note of bytes that were said.
    pub fn count(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes);
    }

    /// Begin a new count.
    pub fn renew(&self) {
        self.messages.set(0);
        self.bytes.set(0);
        self.left_out.set(0);
    }

    /// The number of messages that were left out.
    pub fn left_out(&self) -> usize {
        self.left_out.get()
    }

    /// Say something however much was said before, without a change of what is left.
    pub fn aside(&self, say: impl FnOnce()) {
        let before = (self.messages.replace(0), self.bytes.replace(0));
        say();
        self.messages.set(before.0);
        self.bytes.set(before.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_a_mebibyte_and_counts_the_rest() {
        let allowance = Allowance::default();
        let mut said = 0;
        for _ in 0..2_000 {
            if allowance.has_bytes() {
                allowance.count(1 << 10);
                said += 1 << 10;
            }
        }
        assert_eq!((said, allowance.left_out()), (1 << 20, 2_000 - 1_024));
        allowance.aside(|| assert!(allowance.has_bytes()));
        assert!(!allowance.has_bytes());
    }

    #[test]
    fn five_hundred_messages_are_printed_one_by_one() {
        let allowance = Allowance::default();
        let printed = (0..501).filter(|_| allowance.has_message()).count();
        assert_eq!((printed, allowance.left_out()), (500, 1));
        allowance.aside(|| assert!(allowance.has_message()));
        assert!(!allowance.has_message());
        allowance.renew();
        assert_eq!((allowance.left_out(), allowance.has_message()), (0, true));
    }
}
