//! Names and addresses of a minion in a text.

use std::net::{Ipv4Addr, Ipv6Addr};

use mapstack::minion::Minion;
use mapstack::value::{Key, Value};

/// Grains that name a minion.
const NAMES: [&str; 7] = [
    "id",
    "fqdn",
    "nodename",
    "host",
    "localhost",
    "machine_id",
    "uuid",
];

/// The names of a minion, for texts that are the same on many but for these.
///
/// ```
/// use mapstack::minion::Minion;
/// use mapstack_fleet::MinionNames;
/// let of = |id: &str| MinionNames::of(&Minion::new(id).complete());
/// let alike = |id: &str, text: &str| of(id).alike(text);
/// assert_eq!(alike("web1", "web1 at 10.0.0.1:80"), alike("web2", "web2 at 10.0.0.9:80"));
/// assert_ne!(alike("web1", "web10"), alike("web2", "web20"));
/// // Which address is which counts.
/// assert_ne!(alike("web1", "10.0.0.1 10.0.0.1"), alike("web2", "10.0.0.2 10.0.0.3"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct MinionNames {
    /// The placeholder of each name; the longest first.
    names: Vec<(String, &'static str)>,
}

/// Text with a placeholder for each name and address.
#[derive(Default)]
struct PlaceholderText {
    text: String,
    addresses: Vec<String>,
}

impl MinionNames {
    /// Those of a minion.
    #[must_use]
    pub fn of(minion: &Minion) -> Self {
        let of_grain = |name: &&'static str| {
            let value = minion.grains.get(*name)?.as_str()?;
            Some((value.to_owned(), *name))
        };
        let id = minion.id().to_string();
        let short = id.split('.').next().unwrap_or_default().to_owned();
        let mut names = vec![(id, "id"), (short, "host")];
        names.extend(NAMES.iter().filter_map(of_grain));
        names.retain(|(name, _)| !name.is_empty() && name != "localhost");
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        MinionNames { names }
    }

    /// A text with placeholders for names and addresses.
    #[must_use]
    pub fn alike(&self, text: &str) -> String {
        let mut alike = PlaceholderText::default();
        self.add_text(text, &mut alike);
        alike.text
    }

    /// The same of a change, as a text that no other change has.
    pub(crate) fn change(&self, path: &[Key], values: [Option<&Value>; 2]) -> String {
        let mut alike = PlaceholderText::default();
        for key in path {
            self.add_text(&key.to_string(), &mut alike);
            alike.text.push('\0');
        }
        for value in values {
            alike.text.push_str("\0\0");
            if let Some(value) = value {
                self.add_value(value, &mut alike);
            }
        }
        alike.text
    }

    fn add_value(&self, value: &Value, alike: &mut PlaceholderText) {
        match value {
            Value::Str(text) => {
                alike.text.push('\'');
                self.add_text(text, alike);
            }
            Value::List(items) => {
                alike.text.push('[');
                for item in items.iter() {
                    self.add_value(item, alike);
                    alike.text.push('\0');
                }
                alike.text.push(']');
            }
            Value::Map(map) => {
                alike.text.push('{');
                for (key, value) in map {
                    self.add_text(&key.to_string(), alike);
                    alike.text.push('\0');
                    self.add_value(value, alike);
                    alike.text.push('\0');
                }
                alike.text.push('}');
            }
            other => alike.text.push_str(&other.repr()),
        }
    }

    fn add_text(&self, text: &str, alike: &mut PlaceholderText) {
        let mut rest = text;
        let mut is_inside = false;
        while let Some(first) = rest.chars().next() {
            let begins = !is_inside;
            let name = self.name_at(rest).filter(|_| begins);
            let address = address(rest).filter(|_| begins);
            let length = match (name, address) {
                (Some((length, grain)), _) => {
                    alike.text.push_str(&format!("{{{grain}}}"));
                    length
                }
                (None, Some(length)) => {
                    alike.add_address(&rest[..length]);
                    length
                }
                (None, None) => {
                    alike.text.push(first);
                    first.len_utf8()
                }
            };
            is_inside = name.is_none() && address.is_none() && first.is_alphanumeric();
            rest = &rest[length..];
        }
    }

    /// The length of the name at the beginning of a text, if the word ends there, and its grain.
    fn name_at(&self, text: &str) -> Option<(usize, &'static str)> {
        let mut names = self.names.iter();
        names.find_map(|(name, grain)| {
            let rest = text.strip_prefix(name.as_str())?;
            (!rest.starts_with(char::is_alphanumeric)).then_some((name.len(), *grain))
        })
    }
}

impl PlaceholderText {
    fn add_address(&mut self, address: &str) {
        let known = self.addresses.iter().position(|known| known == address);
        let index = known.unwrap_or_else(|| {
            self.addresses.push(address.into());
            self.addresses.len() - 1
        });
        self.text.push_str(&format!("{{address {index}}}"));
    }
}

/// The length of the address that a text begins with.
fn address(text: &str) -> Option<usize> {
    let is_in = |c: char| c.is_ascii_hexdigit() || c == '.' || c == ':';
    let end = text.find(|c| !is_in(c)).unwrap_or(text.len());
    let word = text[..end].trim_end_matches('.');
    let v4 = word.split(':').next().unwrap_or_default();
    if v4.parse::<Ipv4Addr>().is_ok() {
        return Some(v4.len());
    }
    word.parse::<Ipv6Addr>().is_ok().then_some(word.len())
}
