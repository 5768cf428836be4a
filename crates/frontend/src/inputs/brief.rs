//! The help of `-h`: the flags that are wanted every day, on one screen. `--help` has the rest.

use clap::Command;

/// The flags of [`flags`](crate::inputs::flags) that `-h` leaves out, by their ids.
const RARE: [&str; 38] = [
    "allow",
    "cache",
    "color",
    "config_get_strategy",
    "config_kind",
    "custom_data",
    "default_merge_lists",
    "default_merge_strategy",
    "digest_salt",
    "follow_outside_links",
    "grains",
    "jobs",
    "kwargs",
    "mask",
    "max_memory",
    "max_time",
    "memory",
    "mine",
    "mirrors",
    "no_secret",
    "opts",
    "parameter_dirs",
    "parts",
    "pillar",
    "post_map",
    "post_map_template",
    "quiet",
    "salt_call",
    "salt_version",
    "saltenv",
    "secret",
    "shard",
    "show_secrets",
    "sources",
    "strict",
    "strict_sandbox",
    "stub",
    "var",
];

/// A command whose `-h` fits on a screen: rare flags and all but the first example are left to `--help`.
///
/// ```
/// use clap::{Args, Command};
/// use mapstack_frontend::inputs::flags::Merging;
/// let verb = Merging::augment_args(Command::new("stack")).after_help("Example:\n  mapstack stack f x");
/// let mut command = mapstack_frontend::inputs::brief(Command::new("mapstack").subcommand(verb));
/// let verb = command.find_subcommand_mut("stack").unwrap();
/// assert!(!verb.render_help().to_string().contains("--parameter-dirs"));
/// assert!(verb.render_long_help().to_string().contains("--parameter-dirs"));
/// ```
#[must_use]
pub fn brief(command: Command) -> Command {
    let all = command.get_after_help().cloned();
    let command = command
        .mut_args(|arg| {
            let is_rare = RARE.contains(&arg.get_id().as_str());
            // Hidden from both is hidden from both.
            let hidden = arg.is_hide_short_help_set() || is_rare;
            arg.hide_short_help(hidden)
        })
        .mut_subcommands(brief);
    let Some(all) = all else {
        return command;
    };
    let example = example(&all.to_string());
    command.after_help(example).after_long_help(all)
}

/// The first example of a text about a command.
fn example(text: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Example"));
    let Some(_) = lines.next() else {
        return String::new();
    };
    let indented = |line: &&str| line.starts_with("    ");
    let command = lines.by_ref().take(1);
    let mut example = vec!["Example:"];
    example.extend(command);
    example.extend(lines.take_while(indented));
    example.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_example_is_shown() {
        for (text, expected) in [
            (
                "About.\n\nExamples:\n  a b\n      does\n  c\n\nMore.",
                "Example:\n  a b\n      does",
            ),
            ("Example:\n  a", "Example:\n  a"),
            ("About.", ""),
        ] {
            assert_eq!(example(text), expected);
        }
    }
}
