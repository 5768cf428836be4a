//! The sources and features that the program was made of.

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
        ("http", cfg!(feature = "http")),
        ("jemalloc", cfg!(feature = "jemalloc")),
        ("json-schema", cfg!(feature = "json-schema")),
        ("tera", cfg!(feature = "tera")),
    ];
    let named = |wanted: bool| -> Vec<&str> {
        let named = features.iter().filter(|(_, is_there)| *is_there == wanted);
        named.map(|(name, _)| *name).collect()
    };
    let left_out = match &*named(false) {
        [] => String::new(),
        names => format!("left out: {} (--features full has all)\n", names.join(", ")),
    };
    format!(
        "commit: {commit}\nfeatures: {}\n{left_out}equals: Salt {}\n",
        named(true).join(", "),
        mapstack::minion::builtin::salt_version()
    )
}
