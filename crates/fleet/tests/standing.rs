//! What minions have while files change.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::{Engine, Error, ErrorKind};
use mapstack_fleet::{ChangedFiles, Comparison, Fleet, Minions, Standing};

struct Named;

impl Minions for Named {
    fn read(&self, id: &str) -> Result<Minion, Error> {
        match id {
            "broken" => Err(Error::new(ErrorKind::Facts, "no facts")),
            id => Ok(Minion::new(id).complete()),
        }
    }
}

fn engine(port: u16) -> Engine {
    let defaults = "values: {port: 22}\n";
    let own = format!("values: {{port: {port}}}\n");
    Engine::new(
        MemoryFiles::new()
            .file("base", "ssh/parameters/defaults.yaml", defaults)
            .file("base", "ssh/parameters/id/web1.yaml", &own),
    )
}

#[test]
fn each_change_is_compared_with_what_minions_have() {
    let ids = ["broken", "web1", "web2"].map(str::to_owned);
    let engines = [engine(22), engine(80), engine(80), engine(443)];
    let fleets = engines
        .each_ref()
        .map(|engine| Fleet::new(engine).formula("ssh"));
    let mut standing = Standing::of(&fleets[0], &Named, &ids);
    assert_eq!(standing.broken().count(), 1);
    let mut found = Vec::new();
    for (at, pair) in fleets.windows(2).enumerate() {
        let changed = ChangedFiles::between(engines[at].files(), engines[at + 1].files()).unwrap();
        let comparison = Comparison::new(&pair[0], &pair[1]).reached_by(changed);
        let differences = standing.advance(&comparison, &Named, &ids);
        let groups = differences.groups().iter();
        let new = groups.map(|group| group.change.new.as_ref().unwrap().repr());
        found.push((new.collect::<Vec<_>>().join(" "), differences.unaffected));
    }
    let expected = [("80", 1), ("", 2), ("443", 1)];
    assert_eq!(found, expected.map(|(new, same)| (new.to_owned(), same)));
}
