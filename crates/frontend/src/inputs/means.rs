//! The command's names for the settings and actions that libraries refer to in their advice.

use mapstack::Means;

/// The name: a flag, or a call of a verb.
///
/// ```
/// use mapstack::Means;
/// assert_eq!(mapstack_frontend::inputs::name_of(Means::Root(None)), "--root DIR");
/// ```
#[must_use]
pub fn name_of(means: Means<'_>) -> String {
    match means {
        Means::Fact => "--set".into(),
        Means::Minions => "--minions".into(),
        Means::Pillar => "--pillar FILE".into(),
        Means::Root(directory) => format!("--root {}", directory.unwrap_or("DIR")),
        Means::Roots => "--root".into(),
        Means::StackRoot => "--stack-root DIR".into(),
        Means::Stub => "--stub".into(),
        Means::Deployed => "`deployed` in .mapstack.yaml (or --deployed PATH=DIR)".into(),
        Means::Permission(None) => "--allow".into(),
        Means::Permission(Some(function)) => format!("--allow {function}"),
        Means::MaxTime => "--max-time".into(),
        Means::MaxMemory => "--max-memory".into(),
        Means::StrictSandbox => "--strict-sandbox".into(),
        Means::ShowSecrets => "--show-secrets".into(),
        Means::NoSecret => "--no-secret NAME".into(),
        Means::Level(level) => format!("--level {level}"),
        Means::Rules => "`mapstack lint --rules`".into(),
        Means::Schema => "`mapstack schema`".into(),
        Means::PillarSchema => "`mapstack schema pillar`".into(),
        Means::Map(formula) => format!("`mapstack map {formula}`"),
        Means::Sources => "`mapstack sources`".into(),
        Means::Data => "`mapstack data`".into(),
        Means::Diff => "`mapstack diff`".into(),
        Means::Blame(formula, key) => format!("mapstack explain {formula} {key} --format blame"),
        Means::Each => "--each".into(),
        Means::Answers => "`mapstack lint --calls -o yaml`".into(),
        Means::Config => "--config".into(),
        Means::Fetch => "`mapstack fetch`".into(),
        Means::FetchConfigured => "`mapstack fetch --config FILE`".into(),
        Means::FetchOne(url) => format!("`mapstack fetch {url}`"),
        Means::Feature(name) => format!("`--features {name}`"),
    }
}
