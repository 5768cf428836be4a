//! Why a file has no part in the data, in words.

use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack_lineage::WhyNot;

use super::is_secret_matcher;

/// The answer about a file, by its path from the root.
pub fn text(path: &str, answer: &WhyNot, minion: &Minion, secrets: &Secrets) -> String {
    let id = minion.id();
    match answer {
        WhyNot::Used { layer } => format!(
            "salt://{path} is used: it is layer {} for {id}\n",
            layer + 1
        ),
        WhyNot::Missing => format!("salt://{path} is looked for, and no root has it\n"),
        WhyNot::Refused { reason } => {
            format!("salt://{path} is looked for, and is not served: {reason}\n")
        }
        WhyNot::Empty => format!("salt://{path} is read, and has no `values`\n"),
        WhyNot::Elsewhere { directories } => format!(
            "salt://{path} is in none of the directories that parameter files are looked for in:\n{}",
            listed(directories)
        ),
        WhyNot::NoSource { sources } => {
            format!(
                "no source leads to salt://{path}; the sources are:\n{}",
                listed(sources)
            )
        }
        WhyNot::Read => {
            format!("salt://{path} is read: the formula's map.jinja loads it for {id}\n")
        }
        WhyNot::NotReached { places } => {
            let places: Vec<String> = places.iter().map(ToString::to_string).collect();
            format!(
                "salt://{path} is not read for {id}: map.jinja does not come by what loads it:\n{}",
                listed(&places)
            )
        }
        WhyNot::NotNamed => {
            format!("salt://{path} is not read for {id}, and no template of the formula names it\n")
        }
        WhyNot::Others { sources } => {
            let mut lines = vec![format!("salt://{path} is not for {id}:")];
            for instead in sources {
                for (matcher, found, wanted) in &instead.differs {
                    let of_pillar = is_secret_matcher(matcher, secrets);
                    let shown = |text: &String| {
                        secrets
                            .shown(&[], of_pillar, &text.as_str().into())
                            .unwrap_or_else(|| text.clone())
                    };
                    let found: Vec<String> = found.iter().map(shown).collect();
                    let has = match &found[..] {
                        [] => "is nothing".into(),
                        found => format!("is `{}`, not `{wanted}`", found.join("`, `")),
                    };
                    lines.push(format!("  {}: {matcher} {has}", instead.definition));
                }
            }
            lines.iter().map(|line| format!("{line}\n")).collect()
        }
    }
}

fn listed(items: &[String]) -> String {
    items.iter().map(|item| format!("  {item}\n")).collect()
}
