//! The results of `map.data` in the sls of one minion.

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack_states::{Gatherer, RequestedStates, TopOptions};

#[test]
fn what_an_sls_changes_in_a_map_stays_in_it() {
    let changing = "{% do salt['map.data']('f').update({'b': 2}) %}\nx: test.nop\n";
    let looking = "y: {test.nop: [{name: \"{{ salt['map.data']('f') | join }}\"}]}\n";
    let files = MemoryFiles::new()
        .file("base", "f/parameters/defaults.yaml", "values: {a: 1}")
        .file("base", "one.sls", changing)
        .file("base", "two.sls", looking);
    let engine = Engine::new(files);
    let gatherer = Gatherer::new(&engine, TopOptions::default());
    let wanted = RequestedStates::Sls {
        saltenv: "base",
        names: &["one".to_owned(), "two".to_owned()],
    };
    let high = gatherer.high(&Minion::new("m").complete(), wanted);
    let text = high.data.to_string();
    // Salt has 'amap_jinjab', the object that the first sls changed.
    assert!(text.contains("'amap_jinja'"), "{text}");
}
