//! Renders a text in the language named on the command line.

use mapstack_render::{Jinja, Language, Mako, Tera};
use mapstack_value::Map;

fn languages() -> [Box<dyn Language>; 3] {
    [Box::new(Jinja), Box::new(Mako::default()), Box::new(Tera)]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (name, text) = arguments
        .next()
        .zip(arguments.next())
        .ok_or("usage: languages NAME TEXT")?;
    let language = languages()
        .into_iter()
        .find(|language| language.name() == name);
    let language = language.ok_or_else(|| format!("unknown language '{name}'"))?;
    println!(
        "{}",
        language.print(&text, &Map::from_iter([("name", "web1")]))?
    );
    Ok(())
}

#[test]
fn every_language_prints_a_variable_and_refuses_one_that_is_not_there() {
    let variables = Map::from_iter([("name", "web1")]);
    for language in languages() {
        let [known, unknown] = match language.name() {
            "mako" => ["${name}", "${nam}"],
            _ => ["{{ name }}", "{{ nam }}"],
        };
        assert_eq!(
            language.print(known, &variables).unwrap(),
            "web1",
            "{}",
            language.name()
        );
        assert!(
            language.print(unknown, &variables).is_err(),
            "{}",
            language.name()
        );
    }
}
