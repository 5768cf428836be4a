//! Templates that reach a limit.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::{Engine, Limits};
use mapstack_files::{Content, ManagedFiles, SharedFiles};
use mapstack_states::{Gatherer, TopOptions};

#[test]
fn a_template_that_reaches_a_limit_for_two_files_is_not_rendered_for_more() {
    let states: String = (0..5)
        .map(|n| format!("/{n}: {{file.managed: [{{source: 'salt://t'}}, {{template: jinja}}, {{context: {{n: {n}}}}}]}}\n"))
        .collect();
    let files = MemoryFiles::new()
        .file("base", "top.sls", "base: {'*': [f]}")
        .file("base", "f.sls", &states)
        .file(
            "base",
            "t",
            "{% for i in range(n % 3 * 9999) %}{% endfor %}",
        );
    let engine = Engine::new(files).with_limits(Limits {
        fuel: 5_000,
        ..Limits::default()
    });
    let gatherer = Gatherer::new(&engine, TopOptions::default()).keeping_low();
    let minion = Minion::new("web1").complete();
    let made = SharedFiles::new(&engine).of(&minion, &gatherer.compiled(&minion).unwrap());
    let said: Vec<String> = made
        .iter()
        .map(|one| match &one.made.content {
            Content::Unknown(unknown) => unknown.why.clone(),
            other => format!("{other:?}"),
        })
        .collect();
    let limit = "Jinja error: the template ran for more than 5000 steps";
    let refused =
        "salt://t reached a limit for 2 files of the minion, and is not rendered for more";
    assert_eq!(said, ["Bytes([])", limit, limit, refused, refused]);
    assert_eq!(made[4].made.reads, made[1].made.reads);
    let low = &gatherer.compiled(&minion).unwrap().low;
    let alone = ManagedFiles::new(&engine, &minion, low);
    let files = alone.all();
    let contents = files.iter().map(|file| alone.content(file));
    let both = contents.zip(&made);
    assert!(
        both.into_iter()
            .all(|(content, made)| content == made.made.content)
    );
}
