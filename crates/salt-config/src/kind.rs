//! Whose configuration it is, and what it takes from where it is read.

/// Whose configuration it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A master's: `/etc/salt/master`.
    Master,
    /// A minion's: `/etc/salt/minion`.
    Minion,
    /// A proxy minion's: `/etc/salt/proxy`.
    Proxy,
}

impl Kind {
    /// Every kind, in the order in which a directory is searched for their files.
    pub const ALL: [Kind; 3] = [Kind::Master, Kind::Minion, Kind::Proxy];

    /// Its name, which is that of its file, too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Master => "master",
            Kind::Minion => "minion",
            Kind::Proxy => "proxy",
        }
    }

    /// The kind that a file's name begins with, up to the first `.`, `-` or `_`.
    ///
    /// ```
    /// use mapstack_salt_config::Kind;
    /// assert_eq!(Kind::of_file("/etc/salt/master"), Some(Kind::Master));
    /// assert_eq!(Kind::of_file("minion.yaml"), Some(Kind::Minion));
    /// assert_eq!(Kind::of_file("masters"), None);
    /// ```
    #[must_use]
    pub fn of_file(path: &str) -> Option<Kind> {
        let name = path.rsplit(['/', '\\']).next()?;
        let stem = name.split(['.', '-', '_']).next()?;
        Kind::ALL.into_iter().find(|kind| kind.name() == stem)
    }
}

/// The surroundings that a configuration takes values from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The directory that a relative `root_dir` starts from.
    pub directory: String,
    /// The directory of `~` in `include`.
    pub home: Option<String>,
    /// The minion's id, for a minion's configuration that does not say it.
    pub id: Option<String>,
    /// The id that a minion without either remembers, in its file `minion_id`.
    pub remembered_id: Option<String>,
    /// The directory, links resolved, outside of which no included file is read: that of a configuration which nobody
    /// vouches for.
    pub within: Option<String>,
}
