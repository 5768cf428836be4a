//! Splitting a fleet over machines.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// One of several parts of a fleet.
///
/// A minion belongs to a part by its id alone: the first eight bytes of the SHA-256 of the id, as one number,
/// the most significant byte first, modulo the number of parts. So a minion stays in its part when others are
/// added or removed, on every machine and in every version, and any program can compute the part:
///
/// ```python
/// int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "big") % parts + 1
/// ```
///
/// ```
/// use mapstack_fleet::Shard;
/// let shards: Vec<Shard> = ["1/3", "2/3", "3/3"].map(|text| text.parse().unwrap()).to_vec();
/// let of_web1 = shards.iter().filter(|shard| shard.has("web1")).count();
/// assert_eq!(of_web1, 1);
/// assert!("4/3".parse::<Shard>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    parts: u64,
}

/// A text that names no part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoShard(String);

impl fmt::Display for NoShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not a part of a fleet: write K/N, as 1/4 for the first of four parts",
            self.0
        )
    }
}

impl std::error::Error for NoShard {}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let numbers = text
            .split_once('/')
            .and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        numbers
            .and_then(|(number, parts)| Shard::new(number, parts))
            .ok_or_else(|| NoShard(text.chars().take(40).collect()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.parts)
    }
}

impl Shard {
    /// One of so many parts, by its number from 1; `None` if there are fewer.
    ///
    /// ```
    /// use mapstack_fleet::Shard;
    /// assert_eq!(Shard::new(1, 4), "1/4".parse().ok());
    /// assert_eq!(Shard::new(5, 4), None);
    /// ```
    #[must_use]
    pub fn new(number: u64, parts: u64) -> Option<Self> {
        (1..=parts)
            .contains(&number)
            .then_some(Shard { number, parts })
    }

    /// The number of this part, from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The number of parts.
    #[must_use]
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// True if a minion belongs to the part.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        let digest = Sha256::digest(id.as_bytes());
        let first = digest
            .iter()
            .take(8)
            .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        first % self.parts == self.number - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_they_are_documented_to_be() {
        // As Python's hashlib has it.
        for (id, part) in [("web1", 3), ("db2.example.org", 7), ("мин", 2)] {
            let own = (1..=7).find(|number| {
                Shard {
                    number: *number,
                    parts: 7,
                }
                .has(id)
            });
            assert_eq!(own, Some(part), "{id}");
        }
    }

    #[test]
    fn parts_are_about_equal() {
        let shard: Shard = "2/8".parse().unwrap();
        let count = (0..8000)
            .filter(|n| shard.has(&format!("minion-{n}.example.org")))
            .count();
        assert!((880..1120).contains(&count), "{count}");
    }

    #[test]
    fn invalid_parts_are_refused() {
        for text in [
            "",
            "1",
            "0/3",
            "4/3",
            "1/0",
            "-1/3",
            "1/3/5",
            "a/b",
            "1 / 3",
            "99999999999999999999/3",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("1/1".parse::<Shard>().unwrap().to_string(), "1/1");
    }
}
