//! The sources of a pillar: the top entries that mean a minion, the sls in the order in which they were read, and the
//! external pillars.

use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack::value::Key;
use mapstack_pillar::{PillarEvent, WholeEvent};
use serde::Serialize;

use super::reasons::{before, position, word, words};
use super::trace::StackStep;

/// The sources of a minion's pillar.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PillarSources<'e> {
    minion: String,
    /// The top files that were looked for, in order.
    top_files: Vec<TopFile<'e>>,
    /// The targets of top files, in the order in which they were asked.
    targets: Vec<TargetRow<'e>>,
    /// The sls, in the order in which they were read.
    sls: Vec<Sls<'e>>,
    /// The external pillars, in order.
    external: Vec<External<'e>>,
}

/// A top file.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct TopFile<'e> {
    saltenv: &'e str,
    file: Option<&'e str>,
    /// The name by which another top file includes it.
    included_as: Option<&'e str>,
}

/// A target of a top file.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct TargetRow<'e> {
    target: &'e str,
    saltenv: &'e str,
    matcher: &'e str,
    /// True if it matches the minion.
    matches: bool,
    /// The facts that it looks at, in words.
    because: String,
    /// file:line:column
    place: Option<String>,
    /// The sls below it.
    sls: &'e [String],
}

/// An sls that had its turn.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Sls<'e> {
    sls: &'e str,
    saltenv: &'e str,
    file: Option<&'e str>,
    /// The sls that includes it; a top file names it where there is none.
    included_by: Option<&'e str>,
    /// `read`, `again`, `missing`, `missing, as it may be`, `not a mapping` or `failed`.
    outcome: &'static str,
    #[serde(skip)]
    words: String,
}

/// An external pillar.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct External<'e> {
    external: &'e str,
    /// The place in the configuration that names it, as file:line:column.
    place: Option<String>,
    /// Why it is not merged.
    problem: Option<&'e str>,
    /// The stacked files that it looked for.
    files: Vec<StackStep<'e>>,
}

impl<'e> PillarSources<'e> {
    /// The sources of a minion's pillar, by what happened when it was compiled.
    #[must_use]
    pub fn new(minion: &Minion, events: &'e [PillarEvent], secrets: &Secrets) -> Self {
        let mut all = PillarSources {
            minion: minion.id().to_string(),
            top_files: Vec::new(),
            targets: Vec::new(),
            sls: Vec::new(),
            external: Vec::new(),
        };
        // The files of an external pillar come before the event that it had its turn.
        let facts = TargetedFacts { minion, secrets };
        let mut files = Vec::new();
        for event in events {
            match event {
                PillarEvent::Whole(event) => all.add(event, facts, &mut files),
                PillarEvent::Stack(event) => files.push(StackStep::of(event)),
            }
        }
        all
    }

    fn add(
        &mut self,
        event: &'e WholeEvent,
        facts: TargetedFacts<'_>,
        files: &mut Vec<StackStep<'e>>,
    ) {
        match event {
            WholeEvent::Top {
                saltenv,
                path,
                included,
            } => self.top_files.push(TopFile {
                saltenv,
                file: path.as_deref(),
                included_as: included.as_deref(),
            }),
            WholeEvent::Target {
                saltenv,
                target,
                matcher,
                place,
                sls,
                is_match,
            } => self.targets.push(TargetRow {
                target,
                saltenv,
                matcher,
                matches: *is_match,
                because: facts.because(target, matcher),
                place: place.as_ref().map(position),
                sls,
            }),
            WholeEvent::Sls {
                sls,
                saltenv,
                path,
                included_by,
                outcome,
            } => self.sls.push(Sls {
                sls,
                saltenv,
                file: path.as_deref(),
                included_by: included_by.as_deref(),
                outcome: word(outcome),
                words: words(outcome),
            }),
            WholeEvent::External {
                name,
                place,
                problem,
            } => self.external.push(External {
                external: name,
                place: place.as_ref().map(position),
                problem: problem.as_deref(),
                files: std::mem::take(files),
            }),
        }
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let (matched, others): (Vec<&TargetRow<'_>>, Vec<&TargetRow<'_>>) =
            self.targets.iter().partition(|target| target.matches);
        let files = self.top_files.iter().map(TopFile::line).collect();
        let lines =
            |targets: Vec<&TargetRow<'_>>| targets.into_iter().map(TargetRow::line).collect();
        let external = self.external.iter().flat_map(External::lines).collect();
        let parts: [(String, Vec<String>); 5] = [
            ("top files".into(), files),
            (
                format!("targets that match {}", self.minion),
                lines(matched),
            ),
            ("other targets".into(), lines(others)),
            (
                "sls, in order".into(),
                self.sls.iter().map(Sls::line).collect(),
            ),
            ("external pillars, in order".into(), external),
        ];
        let part = |(heading, lines): &(String, Vec<String>)| {
            let lines = match lines.is_empty() {
                true => "  none\n".into(),
                false => lines
                    .iter()
                    .map(|line| format!("  {line}\n"))
                    .collect::<String>(),
            };
            format!("{heading}\n{lines}")
        };
        parts.iter().map(part).collect()
    }
}

impl TopFile<'_> {
    fn line(&self) -> String {
        let file = self.file.unwrap_or("no such file");
        format!(
            "{}  {file}{}",
            self.saltenv,
            before("  included as ", self.included_as)
        )
    }
}

impl TargetRow<'_> {
    fn line(&self) -> String {
        let place = self.place.as_deref().unwrap_or("somewhere");
        let sls = match self.matches {
            true => format!(": {}", self.sls.join(", ")),
            false => String::new(),
        };
        format!(
            "{place}  {}  '{}' ({}), as {}{sls}",
            self.saltenv, self.target, self.matcher, self.because
        )
    }
}

impl Sls<'_> {
    fn line(&self) -> String {
        let (file, by) = (
            before("  ", self.file),
            before("  included by ", self.included_by),
        );
        format!("{}  {}{file}{by}  {}", self.saltenv, self.sls, self.words)
    }
}

impl External<'_> {
    fn lines(&self) -> Vec<String> {
        let place = before("  ", self.place.as_deref());
        let own = format!(
            "{}{place}  {}",
            self.external,
            self.problem.unwrap_or("merged")
        );
        let files = self.files.iter().map(|file| format!("  {file}"));
        std::iter::once(own).chain(files).collect()
    }
}

/// The facts that targets look at.
#[derive(Clone, Copy)]
struct TargetedFacts<'f> {
    minion: &'f Minion,
    secrets: &'f Secrets,
}

impl TargetedFacts<'_> {
    /// The facts that a target looks at, in words. The pillar as it was by then is not kept.
    fn because(self, target: &str, matcher: &str) -> String {
        let facts: Vec<String> = match matcher {
            "compound" => {
                let mut facts = Vec::new();
                for fact in target
                    .split_whitespace()
                    .filter_map(|word| self.looked_at(word))
                {
                    if !facts.contains(&fact) {
                        facts.push(fact);
                    }
                }
                facts
            }
            "grain" | "grain_pcre" => vec![self.grain(target)],
            "pillar" | "pillar_exact" | "pillar_pcre" => vec![of_pillar(target)],
            "nodegroup" => vec![format!("the nodegroup {target} says")],
            "ipcidr" => vec![self.grain("ipv4:")],
            _ => vec![self.id()],
        };
        facts.join(" and ")
    }

    /// The fact that a word of a compound target looks at; nothing for operators.
    fn looked_at(self, word: &str) -> Option<String> {
        let word = word.trim_matches(['(', ')']);
        if word.is_empty() || ["and", "or", "not"].contains(&word) {
            return None;
        }
        let Some((letter, rest)) = word.split_once('@') else {
            return Some(self.id());
        };
        Some(match letter.chars().next() {
            Some('G' | 'P') => self.grain(rest),
            Some('I' | 'J') => of_pillar(rest),
            Some('N') => format!("the nodegroup {rest} says"),
            Some('S') => self.grain("ipv4:"),
            _ => self.id(),
        })
    }

    fn id(self) -> String {
        format!("the id is {}", self.minion.id())
    }

    /// The grain that a pattern is matched against.
    fn grain(self, query: &str) -> String {
        let name = query.rsplit_once(':').map_or(query, |(name, _)| name);
        let path: Vec<Key> = name.split(':').map(Key::from).collect();
        match self.minion.grains_get(name, ":") {
            Ok(Some(value)) if self.secrets.hide(&path, false, &value) => {
                format!("the grain {name} is secret")
            }
            Ok(Some(value)) => format!("the grain {name} is {}", value.repr()),
            _ => format!("there is no grain {name}"),
        }
    }
}

/// The pillar that targets of the pillar's own top files see.
fn of_pillar(query: &str) -> String {
    let name = query.rsplit_once(':').map_or(query, |(name, _)| name);
    format!(
        "the pillar that it looks at for {name} is the one before any sls is read (empty, or with the external pillars \
         that came first); use a grain"
    )
}
