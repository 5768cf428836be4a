//! The page in a real browser: it filters, opens histories, and nothing goes wrong in its console.
//!
//! `cargo test --workspace --test browser` runs it; the environment variable `CHROMEDRIVER`
//! names the driver, if that is not among the usual programs.

mod webdriver;

use std::collections::BTreeMap;

use mapstack_report::page::{
    Bar, Changed, ChangedLine, Changes, Chart, EarlierValue, FilePlace, ListingItem, ListingPage,
    Page, PageLayer, PageOrigin, QuotedPlace, ValueRow,
};
use serde_json::json;
use webdriver::{Browser, key};

const HOSTILE: &str = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">\u{2028}\u{202e}'";

const FLAGS: [&str; 10] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--window-size=1200,900",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--blink-settings=preferredColorScheme=0",
];

fn origin(line: usize, column: usize) -> PageOrigin {
    let place = FilePlace {
        file: "users/defaults.yaml".into(),
        line,
        column,
    };
    PageOrigin {
        text: format!("users/defaults.yaml:{line}:{column}"),
        place: Some(place),
        ..PageOrigin::default()
    }
}

fn page() -> Page {
    let row = |path: &[&str], value: &str, origin: PageOrigin| ValueRow {
        path: path.iter().map(|key| (*key).into()).collect(),
        value: value.into(),
        layer: 2,
        origin,
        past: Vec::new(),
    };
    let lines = [
        "values:",
        "  shell: /bin/bash # the default",
        "  groups:",
        "    - 'sudo'",
        "  ü€𝒙: [äö, \"x\"]",
    ];
    let past = EarlierValue {
        value: "'/bin/sh'".into(),
        layer: 1,
        origin: origin(1, 1),
        ended: "replaced by layer 2".into(),
    };
    let layer = |title: &str| PageLayer {
        title: title.into(),
        because: vec!["G@os is 'Debian'".into()],
        ..PageLayer::default()
    };
    Page {
        formula: "users".into(),
        minion: HOSTILE.into(),
        key: None,
        layers: vec![layer("salt://users/defaults.yaml"), layer(HOSTILE)],
        rows: vec![
            ValueRow {
                past: vec![past],
                ..row(&["shell"], "'/bin/bash'", origin(2, 10))
            },
            row(&["groups", "0"], "'sudo'", origin(4, 7)),
            row(&["ü€𝒙", "0"], "'äö'", origin(5, 9)),
            row(
                &[HOSTILE, "deep"],
                HOSTILE,
                PageOrigin {
                    text: HOSTILE.into(),
                    ..PageOrigin::default()
                },
            ),
        ],
        files: BTreeMap::from([(
            "users/defaults.yaml".into(),
            lines
                .iter()
                .enumerate()
                .map(|(at, line)| (at + 1, (*line).to_string()))
                .collect(),
        )]),
    }
}

/// The keys of the rows that can be seen.
const SEEN: &str = "[...document.querySelectorAll('.row')].filter(row => row.offsetParent).map(row => row.querySelector('.k').textContent)";

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "starting a browser takes long: one goes through the whole page"
)]
fn the_page_filters_and_tells_histories() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("page.html");
    std::fs::write(&file, page().to_html().unwrap()).unwrap();
    let browser = Browser::start(&FLAGS);
    browser.open(&format!("file://{}", file.display()));
    browser.wait("document.querySelector('.row') !== null");

    // Everything is there, and hostile texts are texts.
    assert_eq!(browser.ask(&format!("{SEEN}.length")), 4);
    let title = || {
        browser
            .ask("document.title")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(title().starts_with("users for </script>"), "{}", title());
    assert_eq!(
        browser.ask("document.querySelectorAll('img, main script').length"),
        0
    );

    // The filter looks into keys, values and origins.
    for (typed, seen) in [
        ("sudo", json!(["0"])),
        ("SHELL", json!(["shell"])),
        (".yaml:5:", json!(["0"])),
        ("onerror", json!(["deep"])),
        ("nothing has this", json!([])),
    ] {
        browser.click("#search");
        browser.run("document.getElementById('search').select()");
        browser.press(typed);
        assert_eq!(browser.ask(SEEN), seen, "{typed}");
    }
    assert_eq!(browser.ask("document.getElementById('none').hidden"), false);
    browser.run("document.getElementById('search').select()");
    browser.press(key::BACKSPACE);
    assert_eq!(browser.ask(&format!("{SEEN}.length")), 4);

    // A click opens the history, with the lines of the file and the text marked.
    let marked = "[...document.querySelectorAll('#history mark')].map(mark => mark.textContent)";
    browser.click("[data-row='0']");
    assert_eq!(browser.ask(marked), json!(["/bin/bash", "values"]));
    let history = browser
        .ask("document.getElementById('history').textContent")
        .to_string();
    assert!(
        history.contains("replaced by layer 2") && history.contains("because G@os is 'Debian'"),
        "{history}"
    );
    assert_eq!(browser.ask("location.hash"), "#value=shell");
    // Columns are characters, of which some are two units in the browser.
    browser.click("[data-row='2']");
    assert_eq!(browser.ask(marked), json!(["äö"]));
    browser.click("[data-row='3']");
    assert_eq!(browser.ask(marked), json!([]));

    // The strip and the check box leave others out.
    browser.press(key::ESCAPE);
    browser.click("#overridden");
    assert_eq!(browser.ask(SEEN), json!(["shell"]));
    browser.click("#overridden");
    browser.click(".strip [data-layer='2']");
    assert_eq!(browser.ask(&format!("{SEEN}.length")), 4);
    browser.click(".strip [data-layer='2']");
    browser.click("[data-row='3']");

    // By keys alone: close, go on to the next, open.
    browser.press(key::ESCAPE);
    assert_eq!(browser.ask("document.getElementById('panel').hidden"), true);
    assert_eq!(browser.ask("document.activeElement.dataset.row"), "3");
    for key in [key::UP, key::UP, key::ENTER] {
        browser.press(key);
    }
    assert_eq!(browser.ask(marked), json!(["'sudo'"]));
    assert_eq!(browser.ask("document.activeElement.id"), "panel-title");

    // An address opens its value.
    browser.run("location.hash = '#value=' + encodeURIComponent('ü€𝒙:0')");
    browser.wait(&format!("{marked}[0] === 'äö'"));

    // Dark, as the flags ask for.
    assert_eq!(
        browser.ask("getComputedStyle(document.body).backgroundColor"),
        "rgb(22, 24, 28)"
    );
    assert_eq!(
        browser.ask("document.documentElement.scrollWidth <= innerWidth"),
        true
    );
    assert_ne!(title(), "broken");
    let console = browser.console();
    assert!(console.is_empty(), "{console:?}");
}

fn changes() -> Changes {
    let change = |title: &str, file: &str, minions: &[&str]| Changed {
        formulas: "users".into(),
        title: title.into(),
        lines: vec![ChangedLine {
            sign: "new".into(),
            text: HOSTILE.into(),
            from: HOSTILE.into(),
        }],
        is: Some(QuotedPlace {
            text: format!("{file}:1:1"),
            file: file.into(),
            line: 1,
            lines: vec![(1, "a: 1".into())],
        }),
        minions: minions.iter().map(|one| (*one).into()).collect(),
        ..Changed::default()
    };
    Changes {
        from: "HEAD".into(),
        to: HOSTILE.into(),
        changes: vec![
            change("shell", "a.yaml", &["web1", "web2"]),
            change("port", "b.yaml", &["web1"]),
            change("user", "a.yaml", &["web2"]),
        ],
        failures: vec![Changed {
            formulas: "ntp".into(),
            title: "fails now".into(),
            message: Some(HOSTILE.into()),
            bad: true,
            minions: vec!["db1".into()],
            ..Changed::default()
        }],
        ..Changes::default()
    }
}

#[test]
fn changes_are_filtered_and_grouped() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("changes.html");
    std::fs::write(&file, changes().to_html().unwrap()).unwrap();
    let browser = Browser::start(&FLAGS);
    browser.open(&format!("file://{}", file.display()));
    browser.wait("document.querySelector('.change') !== null");
    let seen = "[...document.querySelectorAll('.change, .group')].filter(one => one.offsetParent).map(one => (one.matches('h2') ? one : one.querySelector('h2')).textContent)";
    assert_eq!(
        browser.ask(seen),
        json!(["fails now", "shell", "port", "user"])
    );
    assert_eq!(browser.ask("document.querySelectorAll('td.has').length"), 4);
    assert_eq!(
        browser.ask("document.querySelectorAll('td.fails').length"),
        1
    );
    browser.run("const group = document.getElementById('group'); group.value = 'file'; group.dispatchEvent(new Event('change'))");
    assert_eq!(
        browser.ask(seen),
        json!([
            "– (1)",
            "fails now",
            "a.yaml (2)",
            "shell",
            "user",
            "b.yaml (1)",
            "port"
        ])
    );
    browser.click("#search");
    browser.press("port");
    assert_eq!(browser.ask(seen), json!(["b.yaml (1)", "port"]));
    browser.press(key::ESCAPE);
    assert_eq!(browser.ask(&format!("{seen}.length")), 7);
    assert_eq!(browser.ask("document.querySelectorAll('img').length"), 0);
    assert_eq!(
        browser.ask("document.documentElement.scrollWidth <= innerWidth"),
        true
    );
    let console = browser.console();
    assert!(console.is_empty(), "{console:?}");
}

/// A browser of a width that shows a page.
fn showing(html: &str, width: u32) -> (Browser, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("page.html");
    std::fs::write(&file, html).unwrap();
    let size = format!("--window-size={width},900");
    let flags = FLAGS.map(|flag| match flag.starts_with("--window-size") {
        true => size.as_str(),
        false => flag,
    });
    let browser = Browser::start(&flags);
    browser.open(&format!("file://{}", file.display()));
    browser.wait("document.querySelector('.change') !== null");
    (browser, directory)
}

fn is_whole(browser: &Browser) {
    assert_eq!(
        browser.ask("document.querySelectorAll('img, main script').length"),
        0
    );
    assert_eq!(
        browser.ask("document.documentElement.scrollWidth <= innerWidth"),
        true
    );
    let console = browser.console();
    assert!(console.is_empty(), "{console:?}");
}

#[test]
fn changes_of_many_minions_fit_a_phone() {
    let mut page = changes();
    let minions: Vec<String> = (0..40).map(|at| format!("web{at}.example.org")).collect();
    for change in &mut page.changes {
        change.title =
            "order: file.managed 'known_hosts' now runs after service.running 'sshd'".into();
        change.minions.clone_from(&minions);
    }
    let html = page.to_html().unwrap();
    for width in [1200, 500] {
        let (browser, _directory) = showing(&html, width);
        is_whole(&browser);
        let first = "document.querySelector('.matrix td.has').getBoundingClientRect().right";
        assert_eq!(browser.ask(&format!("{first} < innerWidth")), true);
    }
}

fn findings() -> ListingPage {
    let item = |rule: &str, level: &str, title: &str, file: &str| ListingItem {
        level: level.into(),
        bad: level == "error",
        rule: rule.into(),
        formula: "users".into(),
        title: title.into(),
        place: QuotedPlace {
            text: format!("{file}:2:1"),
            file: file.into(),
            line: 2,
            lines: vec![(1, HOSTILE.repeat(9)), (2, "a: {{ b }}".into())],
        },
        notes: vec!["on all 47 minions".into(), HOSTILE.into()],
    };
    ListingPage {
        verb: "lint".into(),
        title: HOSTILE.into(),
        summary: "1 error, 2 warnings".into(),
        notes: vec!["3 files not looked at".into()],
        items: vec![
            item("undefined-variable", "error", "'b' is undefined", "a.sls"),
            item("yaml-bool", "warning", "no is read as false", "b.yaml"),
            item("yaml-bool", "warning", "off is read as false", "a.sls"),
        ],
        ..ListingPage::default()
    }
}

#[test]
fn findings_are_filtered_and_grouped() {
    let html = findings().to_html().unwrap();
    for width in [1200, 500] {
        let (browser, _directory) = showing(&html, width);
        let seen = "[...document.querySelectorAll('.change, .group')].filter(one => one.offsetParent).map(one => (one.matches('h2') ? one : one.querySelector('h2')).textContent)";
        let all = json!([
            "'b' is undefined",
            "no is read as false",
            "off is read as false"
        ]);
        assert_eq!(browser.ask(seen), all);
        assert_eq!(
            browser.ask("[...document.querySelectorAll('.excerpt .here')].map(line => line.textContent.trim())"),
            json!(["2a: {{ b }}", "2a: {{ b }}", "2a: {{ b }}"])
        );
        // By keys alone.
        browser.press("/");
        assert_eq!(browser.ask("document.activeElement.id"), "search");
        browser.press("YAML-bool");
        assert_eq!(
            browser.ask(seen),
            json!(["no is read as false", "off is read as false"])
        );
        assert_eq!(
            browser.ask("document.getElementById('count').textContent"),
            "2 of 3"
        );
        browser.press(key::ESCAPE);
        assert_eq!(browser.ask(seen), all);
        browser.run("const group = document.getElementById('group'); group.value = 'rule'; group.dispatchEvent(new Event('change'))");
        assert_eq!(
            browser.ask(seen),
            json!([
                "undefined-variable (1)",
                "'b' is undefined",
                "yaml-bool (2)",
                "no is read as false",
                "off is read as false"
            ])
        );
        is_whole(&browser);
    }
}

#[test]
fn values_of_a_fleet_are_bars_and_lists() {
    let bar = |label: &str, members: &[&str]| Bar {
        label: label.into(),
        members: members.iter().map(|one| (*one).into()).collect(),
    };
    let page = ListingPage {
        verb: "fleet".into(),
        title: "sudo:group".into(),
        charts: vec![Chart {
            title: "users:sudo:group".into(),
            bars: vec![
                bar("sudo", &["web1", "web2", "web3"]),
                bar(HOSTILE, &["db1"]),
            ],
        }],
        ..ListingPage::default()
    };
    let html = page.to_html().unwrap();
    for width in [1200, 500] {
        let (browser, _directory) = showing(&html, width);
        let shares = "[...document.querySelectorAll('.bar')].map(bar => Math.round(100 * bar.offsetWidth / bar.parentElement.offsetWidth))";
        assert_eq!(browser.ask(shares), json!([75, 25]));
        let seen = "[...document.querySelectorAll('.change')].filter(one => one.offsetParent).map(one => one.querySelector('details p').textContent)";
        browser.press("/");
        browser.press("db1");
        assert_eq!(browser.ask(seen), json!(["db1"]));
        // A page without groups.
        assert_eq!(
            browser.ask("document.getElementById('group').offsetParent === null"),
            true
        );
        is_whole(&browser);
    }
}
