//! Room for what people read: more of it is counted.

use crate::words::count;

/// Limit on the bytes of all entries of a report.
const MOST_BYTES: usize = 10 << 20;

/// The room that the entries of a report have.
#[derive(Debug)]
pub(crate) struct Room {
    /// The bytes that are left.
    bytes: usize,
    left_out: usize,
}

impl Default for Room {
    fn default() -> Self {
        Room::of(MOST_BYTES)
    }
}

impl Room {
    /// Room for this many bytes. The entry that fills it is shown as a whole.
    pub fn of(bytes: usize) -> Self {
        Room { bytes, left_out: 0 }
    }

    /// Show an entry and count its bytes. If the room is used up, only count the entry and return false.
    pub fn show(&mut self, show: impl FnOnce() -> usize) -> bool {
        let has_room = self.bytes > 0;
        match has_room {
            true => self.bytes = self.bytes.saturating_sub(show()),
            false => self.left_out += 1,
        }
        has_room
    }

    /// The number of entries, such as changes, that were not shown, in a sentence.
    pub fn left_out(&self, of: &str) -> Option<String> {
        let more = count(self.left_out, &format!("more {of}"));
        (self.left_out > 0).then(|| format!("{more} not shown; -o json has all"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_take_ten_mebibytes_and_one_more_at_most() {
        let mut room = Room::default();
        let shown = (0..12).filter(|_| room.show(|| (1 << 20) - 1)).count();
        assert_eq!(shown, 11);
        assert_eq!(
            room.left_out("change").unwrap(),
            "1 more change not shown; -o json has all"
        );
        assert_eq!(Room::default().left_out("change"), None);
    }
}
