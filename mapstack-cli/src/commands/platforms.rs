//! `mapstack platforms`.

use mapstack::minion::platforms::{self, Platform};
use mapstack::value::{Map, Value};

use crate::cli::{Listing, Platforms};
use crate::minions::{self, Choice};
use crate::output;
use crate::report::Failure;

pub fn run(args: &Platforms) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        let chosen = minions::of_platforms(std::slice::from_ref(name), Choice::All)?;
        let document = chosen.into_iter().next().map(|minion| {
            let parts: [(&str, Value); 2] = [("id", minion.id), ("grains", minion.grains.into())];
            Value::from(parts.into_iter().collect::<Map>())
        });
        return output::write(&match args.format {
            Listing::Text => output::as_yaml(&document.unwrap_or_default()),
            Listing::Json => output::as_json(&document.unwrap_or_default())?,
        });
    }
    output::write(&match args.format {
        Listing::Text => text(platforms::all()),
        Listing::Json => output::as_json(
            &platforms::all()
                .iter()
                .map(|platform| Value::from(row(platform)))
                .collect(),
        )?,
    })
}

fn text(platforms: &[Platform]) -> String {
    let widest = platforms
        .iter()
        .map(|platform| platform.name.len())
        .max()
        .unwrap_or_default();
    let line = |platform: &Platform| {
        let also = if platform.aliases.is_empty() {
            String::new()
        } else {
            format!("; also {}", platform.aliases.join(", "))
        };
        format!("{:widest$}  {}{also}\n", platform.name, platform.title)
    };
    platforms.iter().map(line).collect()
}

fn row(platform: &Platform) -> Map {
    let row: [(&str, Value); 3] = [
        ("platform", platform.name.into()),
        ("title", platform.title.into()),
        (
            "aliases",
            platform
                .aliases
                .iter()
                .map(|alias| Value::from(*alias))
                .collect(),
        ),
    ];
    row.into_iter().collect()
}
