//! A formula that is converted: the changes, the proof, and the remaining work.

use std::fmt::Write as _;

use mapstack_convert::{Difference, Formula, Left, OwnDefault, ProofOutcome, Proposal};

use crate::line_diff::patch;
use crate::words::{count, some};

/// A proposal with its proof.
pub struct Conversion<'c> {
    /// The formula as it is.
    pub formula: &'c Formula,
    /// The proposal.
    pub proposal: &'c Proposal,
    /// The comparison of both.
    pub proven: &'c ProofOutcome,
    /// The names of the pillars of the repository that were compared.
    pub pillars: Vec<String>,
    /// Pillars that do not render: the name, and why.
    pub broken: Vec<(String, String)>,
    /// The functions whose answers were made up.
    pub assumed: Vec<String>,
    /// Takes secrets out of texts.
    pub starred: &'c dyn Fn(&str) -> String,
}

/// Differences that are shown, and the characters of a value.
const SHOWN: usize = 8;
const WIDTH: usize = 160;

/// Defaults of states that a terminal shows.
const DEFAULTS: usize = 12;
const OWN_DEFAULTS: &str =
    "defaults in states, which stay there and could be in parameters/defaults.yaml";

impl Conversion<'_> {
    /// The summary for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let name = self.formula.name();
        match self.proven.is_equal() {
            true => text.push_str(&format!("{name}: map.data gives what map.jinja gave\n")),
            false => self.add_differences(&mut text),
        }
        if self.proven.is_equal() {
            for done in &self.proposal.done {
                let _ = writeln!(text, "  {done}");
            }
        }
        add_list(
            &mut text,
            "left as it is",
            self.proposal.left.iter().map(|one| self.left(one)),
        );
        if self.proven.is_equal() {
            add_list(
                &mut text,
                "to do by hand",
                self.proposal.advice.iter().cloned(),
            );
        }
        if self.proven.is_equal() {
            let all = self.own_defaults();
            let more = all.len().saturating_sub(DEFAULTS);
            let more = (more > 0).then(|| format!("and {more} more"));
            let shown = all.into_iter().take(DEFAULTS).chain(more);
            add_list(&mut text, OWN_DEFAULTS, shown);
        }
        add_list(&mut text, "compared", self.compared().into_iter());
        text
    }

    fn add_differences(&self, text: &mut String) {
        let name = self.formula.name();
        let all = &self.proven.differences;
        if let (true, Some(spent)) = (all.is_empty(), &self.proven.spent) {
            let _ = writeln!(
                text,
                "{name}: not converted: {spent}, so not all was compared ({})",
                spent.help()
            );
            return;
        }
        if all.is_empty() {
            let _ = writeln!(
                text,
                "{name}: not converted: the map works on no minion, so nothing is proven"
            );
            return;
        }
        let _ = writeln!(
            text,
            "{name}: not converted: {} would change",
            count(all.len(), "thing")
        );
        for difference in all.iter().take(SHOWN) {
            self.add_difference(text, difference);
        }
        if all.len() > SHOWN {
            let names: Vec<&str> = all.iter().skip(SHOWN).map(|one| &*one.what).collect();
            let _ = writeln!(text, "  and {}", some(&names, SHOWN));
        }
    }

    fn add_difference(&self, text: &mut String, difference: &Difference) {
        let [before, after] = [&difference.before, &difference.after];
        let [before, after] = cut_around([before, after].map(|value| (self.starred)(value)));
        let more = match difference.count {
            1 => String::new(),
            n => format!(", and {} more", count(n - 1, "time")),
        };
        let _ = write!(
            text,
            "  {}\n    - {}\n    + {}\n    on {} with {}{more}\n",
            difference.what, before, after, difference.minion, difference.pillar,
        );
    }

    /// A part that stays, on one line.
    fn left(&self, left: &Left) -> String {
        let why = (self.starred)(&left.why).replace('\n', " ");
        match &left.place {
            Some(place) => format!("{} ({place}): {why}", left.what),
            None => format!("{}: {why}", left.what),
        }
    }

    /// The defaults that states have for the formula's pillar, a line for each.
    fn own_defaults(&self) -> Vec<String> {
        let shown = |one: &OwnDefault| {
            let file = one.place.file.trim_start_matches("salt://");
            let default = cut(&(self.starred)(&one.default));
            format!("{file}:{}: {} is {default}", one.place.line(), one.key)
        };
        self.proposal.own_defaults.iter().map(shown).collect()
    }

    /// The numbers of comparisons, a line for each kind.
    fn compared(&self) -> Vec<String> {
        let counts = &self.proven.counts;
        let mut lines = vec![format!(
            "{}: {} with {}, {} of them with {} in which values differ{}",
            count(counts.maps, "map"),
            count(counts.minions, "minion"),
            count(counts.pillars, "pillar"),
            counts.sampled,
            count(counts.changed, "more pillar"),
            aside(&[
                (counts.maps_fail, "fail before and after"),
                (counts.maps_fixed, "failed and work"),
                (
                    counts.maps_empty,
                    "have no entry for the system before and after"
                ),
                (
                    counts.maps_added,
                    "are of systems without an entry, which get what all entries have"
                ),
            ]),
        )];
        if self.proven.is_equal() || counts.states > 0 {
            lines.push(format!(
                "{} of {}{}",
                count(counts.states, "list of states")
                    .replace("list of statess", "lists of states"),
                count(counts.sls, "sls").replace("slss", "sls"),
                aside(&[
                    (counts.states_fail, "fail before and after"),
                    (counts.states_fixed, "failed and work"),
                    (
                        counts.states_reordered,
                        "have the same states in another order"
                    ),
                ]),
            ));
        }
        lines.extend(self.files());
        if !self.pillars.is_empty() {
            lines.push(format!("pillars: {}", some(&self.pillars, SHOWN)));
        }
        if !self.assumed.is_empty() {
            let names = some(&self.assumed, SHOWN);
            lines.push(format!(
                "answers of {names} are made up, the same before and after"
            ));
        }
        let broken = self.broken.iter();
        lines.extend(broken.map(|(name, why)| format!("not compared: {name}: {}", cut(why))));
        lines
    }

    /// The numbers of managed files, if there are any.
    fn files(&self) -> Option<String> {
        let counts = &self.proven.counts;
        let all = [
            counts.files,
            counts.files_fail,
            counts.files_unknown,
            counts.files_of_map,
        ];
        let aside = aside(&[
            (counts.files_fail, "more fail before and after"),
            (
                counts.files_unknown,
                "more were not compared, as the machine decides their bytes",
            ),
            (
                counts.files_of_map,
                "more show the map, which is compared itself",
            ),
        ]);
        let compared = count(counts.files, "file");
        let is_any = all.iter().any(|files| *files > 0);
        is_any.then(|| format!("the bytes of {compared} that the states manage{aside}"))
    }

    /// The changes of files.
    #[must_use]
    pub fn diff(&self) -> String {
        let name = self.formula.name();
        let mut text = String::new();
        let none = String::new();
        let paths = self.proposal.write.keys().chain(&self.proposal.remove);
        let mut paths: Vec<&String> = paths.collect();
        paths.sort();
        for path in paths {
            let before = self.formula.text(path);
            let after = self.proposal.write.get(path);
            let [old, new] = [before.unwrap_or(&none), after.unwrap_or(&none)];
            let (old, new) = ((self.starred)(old), (self.starred)(new));
            let side = |there: bool, side: &str| match there {
                true => format!("{side}/{name}/{path}"),
                false => "/dev/null".into(),
            };
            let (from, to) = (side(before.is_some(), "a"), side(after.is_some(), "b"));
            text.push_str(&patch(&old, &new, &from, &to));
        }
        text
    }

    /// The text of a pull request.
    #[must_use]
    pub fn markdown(&self) -> String {
        let name = self.formula.name();
        let mut text = format!("### `{name}`: layers of `map.data` in place of `map.jinja`\n\n");
        if !self.proven.is_equal() {
            text.push_str("Not equal, so nothing was changed:\n\n```\n");
            self.add_differences(&mut text);
            text.push_str("```\n\n");
        }
        add_section(
            &mut text,
            "What is converted",
            self.proposal.done.iter().cloned(),
        );
        if self.proven.is_equal() {
            text.push_str(
                "**Proof**: mapstack computed the maps, the states and the files before and after, and they are equal.\n\n",
            );
        }
        add_items(&mut text, self.compared().into_iter());
        add_section(
            &mut text,
            "What is left, and why",
            self.proposal.left.iter().map(|one| self.left(one)),
        );
        add_section(
            &mut text,
            "Defaults in states, which stay there and could be in `parameters/defaults.yaml`",
            self.own_defaults().into_iter(),
        );
        add_section(
            &mut text,
            "What could be next",
            self.proposal.advice.iter().cloned(),
        );
        text.push_str(
            "The formula needs [saltext.formula](https://github.com/salt-extensions/saltext-formula), \
             which has `map.data`, on the minions that use it.\n",
        );
        text
    }
}

/// Numbers of results with something special, in brackets.
fn aside(numbers: &[(usize, &str)]) -> String {
    let shown: Vec<String> = numbers
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    match shown.is_empty() {
        true => String::new(),
        false => format!(" ({})", shown.join(", ")),
    }
}

fn add_list(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        let _ = writeln!(text, "{title}");
        for line in &lines {
            let _ = writeln!(text, "  {line}");
        }
    }
}

fn add_section(text: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if !items.is_empty() {
        let _ = writeln!(text, "**{title}**\n");
        add_items(text, items.into_iter());
    }
}

fn add_items(text: &mut String, items: impl Iterator<Item = String>) {
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
    text.push('\n');
}

/// A text on one line that is not too long.
/// Two texts that differ, each cut to the part around the first difference.
fn cut_around(texts: [String; 2]) -> [String; 2] {
    const BEFORE: usize = 40;
    let texts = texts.map(|text| text.replace('\n', " "));
    let mut pairs = texts[0].chars().zip(texts[1].chars());
    let same = pairs.position(|(a, b)| a != b).unwrap_or_default();
    let is_long = texts.iter().any(|text| text.chars().count() > WIDTH);
    if !is_long || same <= BEFORE {
        return texts.map(|text| cut(&text));
    }
    texts.map(|text| {
        let rest: String = text.chars().skip(same - BEFORE).collect();
        cut(&format!("…{rest}"))
    })
}

fn cut(text: &str) -> String {
    let line = text.replace('\n', " ");
    match line.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
