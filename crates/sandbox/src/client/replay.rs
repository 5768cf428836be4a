//! The questions of a job and their answers, so that it can be done again without asking the host again.

use crate::protocol::{CommandAnswer, Message, SessionMessage};

/// Questions with their answers, in order, and how far a repetition has come.
#[derive(Debug, Default)]
pub(super) struct Replay {
    recorded: Vec<(SessionMessage, CommandAnswer)>,
    bytes: usize,
    next: usize,
    /// True if the host called a function.
    called: bool,
    /// True if some answers were not kept.
    is_cut: bool,
}

/// The most bytes of answers that are kept.
const MAX_BYTES: usize = 4 << 20;

impl Replay {
    /// The bytes of what is kept.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// All questions so far with their answers; none if some were not kept.
    pub(super) fn recorded(&self) -> Option<&[(SessionMessage, CommandAnswer)]> {
        (!self.is_cut).then_some(&*self.recorded)
    }

    /// The host calls a function, which may do something that must not be done twice.
    pub(super) fn called(&mut self) {
        self.called = true;
    }

    /// Keep an answer.
    pub(super) fn record(&mut self, question: SessionMessage, answer: &CommandAnswer) {
        self.bytes += question.to_bytes().len() + answer.to_bytes().len();
        self.is_cut |= self.bytes > MAX_BYTES;
        if !self.is_cut {
            self.recorded.push((question, answer.clone()));
            self.next = self.recorded.len();
        }
    }

    /// Start over. False if that could call a function twice.
    pub(super) fn rewind(&mut self) -> bool {
        self.next = 0;
        if self.is_cut && !self.called {
            *self = Self::default();
        }
        !self.is_cut
    }

    /// The answer to a question that was asked before; none for one that is the host's to answer.
    pub(super) fn answer(
        &mut self,
        question: &SessionMessage,
    ) -> Option<Result<CommandAnswer, &'static str>> {
        let (asked, answer) = self.recorded.get(self.next)?;
        if asked == question {
            self.next += 1;
            return Some(Ok(answer.clone()));
        }
        if self.called {
            return Some(Err("done again, it asks for something else"));
        }
        self.recorded.truncate(self.next);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(name: &str) -> SessionMessage {
        SessionMessage::HasFunction(name.to_owned())
    }

    #[test]
    fn what_was_answered_is_not_asked_again() {
        let mut replay = Replay::default();
        assert!(replay.answer(&question("a")).is_none());
        replay.record(question("a"), &CommandAnswer::Flag(true));
        assert!(replay.rewind());
        assert_eq!(
            replay.answer(&question("a")),
            Some(Ok(CommandAnswer::Flag(true)))
        );
        // Behind that, the host answers.
        assert!(replay.answer(&question("b")).is_none());
    }

    #[test]
    fn a_job_that_asks_for_something_else_is_not_done_again_if_it_called_a_function() {
        let call = SessionMessage::Call("f".to_owned(), Vec::new(), Vec::new());
        for (first, goes_on) in [(question("a"), true), (call.clone(), false)] {
            let mut replay = Replay::default();
            if first == call {
                replay.called();
            }
            replay.record(first, &CommandAnswer::Flag(true));
            assert!(replay.rewind());
            let answer = replay.answer(&question("b"));
            assert_eq!(answer.is_none(), goes_on, "{answer:?}");
        }
    }

    #[test]
    fn answers_are_kept_within_bounds() {
        for called in [false, true] {
            let mut replay = Replay::default();
            if called {
                replay.called();
            }
            let long = question(&"a".repeat(MAX_BYTES));
            replay.record(long.clone(), &CommandAnswer::Flag(true));
            assert!(replay.recorded.is_empty());
            assert_eq!(replay.rewind(), !called);
            assert!(replay.answer(&long).is_none());
        }
    }
}
