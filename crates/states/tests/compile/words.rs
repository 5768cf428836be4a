//! Salt's messages beside the refusals here, and what records have.

use mapstack::minion::SaltVersion;
use mapstack::value::{Map, Value, json};
use mapstack_states::compile::{Refusal, RefusalKind, Requires};

/// The state modules that watch, as in the records.
pub const WATCHES: [&str; 3] = ["service", "cmd", "test"];

pub fn texts(record: &Map, name: &str) -> Vec<String> {
    let values = record.get(name).and_then(Value::as_list);
    values
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect()
}

pub fn text(record: &Map, name: &str) -> String {
    record
        .get(name)
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// The version of Salt that a record is of.
pub fn version(record: &Map) -> SaltVersion {
    let version = record.get("version");
    version.map_or_else(SaltVersion::default, |name| {
        name.to_string().parse().unwrap()
    })
}

/// More records, one a line, of a file that a variable names: `MAPSTACK_TREES=FILE cargo test --workspace --test all trees`.
pub fn more(variable: &str) -> Vec<Value> {
    let path = std::env::var_os(variable);
    let text = path.map_or_else(String::new, |path| std::fs::read_to_string(path).unwrap());
    text.lines()
        .map(|line| json::loads(line).unwrap())
        .collect()
}

/// Words of Salt's messages, by which they are told apart.
const WORDS: [(&str, RefusalKind); 33] = [
    (
        "does not render to a dictionary",
        RefusalKind::SlsNotMapping,
    ),
    ("Include Declaration", RefusalKind::IncludeNotList),
    ("Exclude Declaration", RefusalKind::ExcludeNotList),
    ("Nonexistent saltenv", RefusalKind::UnknownSaltenv),
    ("No matching salt environment", RefusalKind::UnknownSaltenv),
    ("beyond top level", RefusalKind::IncludeAboveRoot),
    ("Unknown include", RefusalKind::MissingInclude),
    ("Ambiguous include", RefusalKind::AmbiguousInclude),
    ("Specified SLS", RefusalKind::MissingSls),
    ("No matching sls", RefusalKind::MissingSls),
    ("Rendering SLS", RefusalKind::RenderFailed),
    (
        "multiple state declarations",
        RefusalKind::SeveralOfOneModule,
    ),
    ("Extension ", RefusalKind::ExtendNotMapping),
    ("Detected conflicting IDs", RefusalKind::ConflictingIds),
    ("Cannot extend ID", RefusalKind::ExtendOfNothing),
    ("is not formed as a string", RefusalKind::IdNotText),
    ("is not a dictionary", RefusalKind::StateNotMapping),
    (
        "is not formatted as a dictionary",
        RefusalKind::StateNotMapping,
    ),
    ("trailing colon", RefusalKind::TrailingColon),
    ("is not formed as a list", RefusalKind::ArgumentsNotList),
    ("The function ", RefusalKind::FunctionWithSpace),
    ("The 'names' argument", RefusalKind::NamesNotList),
    (
        "needs to be formed as a list",
        RefusalKind::RequisiteNotList,
    ),
    ("single key dictionary", RefusalKind::RequisiteNotSingle),
    ("did you mean", RefusalKind::RequisiteWithDot),
    ("Illegal requisite", RefusalKind::RequisiteUnhashable),
    ("Multiple dictionaries", RefusalKind::SeveralArguments),
    ("No function declared", RefusalKind::NoFunction),
    ("Too many functions", RefusalKind::SeveralFunctions),
    ("must have a string", RefusalKind::RequisiteNotText),
    (
        "Referenced state does not exist",
        RefusalKind::MissingRequisite,
    ),
    ("Recursive requisites", RefusalKind::Cycle),
    ("A recursive requisite was found", RefusalKind::Cycle),
];

/// True if a refusal says what a message of Salt does.
pub fn says(refusal: &Refusal, message: &str) -> bool {
    let kind = WORDS.iter().find(|(words, _)| message.contains(words));
    let names: Vec<&str> = match refusal.kind {
        // It names what is missing, and not where.
        RefusalKind::MissingRequisite
        | RefusalKind::RequisiteNotText
        | RefusalKind::MissingInclude => quoted(&refusal.message),
        RefusalKind::MissingSls | RefusalKind::UnknownSaltenv => Vec::new(),
        // Before Salt 3008, the message has no sls.
        RefusalKind::RequisiteUnhashable if !message.contains(" in SLS ") => Vec::new(),
        RefusalKind::RequisiteUnhashable | RefusalKind::RequisiteWithDot => {
            refusal.sls.as_deref().into_iter().collect()
        }
        // Before Salt 3008, the message has no ID.
        RefusalKind::RequisiteNotSingle => refusal.sls.as_deref().into_iter().collect(),
        _ => [&refusal.id, &refusal.sls]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect(),
    };
    let ours = match refusal.kind {
        RefusalKind::RequisiteOutside => RefusalKind::NoFunction,
        kind => kind,
    };
    kind.is_some_and(|(_, kind)| *kind == ours)
        && names.into_iter().all(|name| message.contains(name))
        && (!message.contains("Recursive requisites") || has_cycle(&refusal.requisites, message))
}

/// The parts of a text in quotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('\'').skip(1).step_by(2).collect()
}

/// True if both name the same states and requisites. Salt goes against the requisites.
fn has_cycle(ours: &[Requires], theirs: &str) -> bool {
    let ours = ours.iter().rev();
    let ours = ours.flat_map(|one| [&*one.state.id, &*one.argument, &*one.on.id]);
    let theirs = theirs.split("({").skip(1).flat_map(|edge| {
        let ids = edge.split("'ID': ").skip(1).map(|rest| {
            rest.split([',', '}'])
                .next()
                .unwrap_or_default()
                .trim_matches('\'')
        });
        let ids: Vec<&str> = ids.collect();
        let kind = edge
            .split("}, '")
            .nth(1)
            .unwrap_or_default()
            .split('\'')
            .next()
            .unwrap_or_default();
        [
            *ids.first().unwrap_or(&""),
            kind,
            *ids.get(1).unwrap_or(&""),
        ]
    });
    ours.eq(theirs)
}
