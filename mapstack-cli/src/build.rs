//! What the program was made of.

/// The commit of a program that was built in a checkout.
const COMMIT: Option<&str> = option_env!("MAPSTACK_COMMIT");

/// The version with the commit, as parts of different builds are not to be mixed.
pub fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    COMMIT.map_or(version.to_owned(), |commit| format!("{version} {commit}"))
}

/// The same in lines, for people.
pub fn described() -> String {
    let commit = COMMIT.unwrap_or("not built in a checkout");
    let features = [
        ("fetch", cfg!(feature = "fetch")),
        ("git", cfg!(feature = "git")),
        ("html", cfg!(feature = "html")),
        ("tera", cfg!(feature = "tera")),
    ];
    let features = features.iter().filter(|(_, is_there)| *is_there);
    let features: Vec<&str> = features.map(|(name, _)| *name).collect();
    format!(
        "commit: {commit}\nfeatures: {}\nequals: Salt {}\n",
        features.join(", "),
        mapstack::minion::builtin::salt_version()
    )
}
