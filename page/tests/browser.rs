//! The page in a real browser: it filters, opens histories, and nothing goes wrong in its console.
//!
//! `cargo test -p mapstack-page --test browser -- --ignored` runs it; the environment variable
//! `CHROME` names the browser, if that is not among the usual programs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::{Browser, LaunchOptions, Tab};
use mapstack_page::{Layer, Origin, Page, Past, Place, Row};

const HOSTILE: &str =
    "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">\u{2028}\u{202e}'";

const FLAGS: [&str; 7] = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--blink-settings=preferredColorScheme=0",
];

fn origin(line: usize, column: usize) -> Origin {
    let place = Place { file: "users/defaults.yaml".into(), line, column };
    Origin { text: format!("users/defaults.yaml:{line}:{column}"), place: Some(place), ..Origin::default() }
}

fn page() -> Page {
    let row = |path: &[&str], value: &str, origin: Origin| Row {
        path: path.iter().map(|key| (*key).into()).collect(),
        value: value.into(),
        layer: 2,
        origin,
        past: Vec::new(),
    };
    let lines = ["values:", "  shell: /bin/bash # the default", "  groups:", "    - 'sudo'", "  ü€𝒙: [äö, \"x\"]"];
    let past = Past { value: "'/bin/sh'".into(), layer: 1, origin: origin(1, 1), ended: "replaced by layer 2".into() };
    let layer =
        |title: &str| Layer { title: title.into(), because: vec!["G@os is 'Debian'".into()], ..Layer::default() };
    Page {
        formula: "users".into(),
        minion: HOSTILE.into(),
        key: None,
        layers: vec![layer("salt://users/defaults.yaml"), layer(HOSTILE)],
        rows: vec![
            Row { past: vec![past], ..row(&["shell"], "'/bin/bash'", origin(2, 10)) },
            row(&["groups", "0"], "'sudo'", origin(4, 7)),
            row(&["ü€𝒙", "0"], "'äö'", origin(5, 9)),
            row(&[HOSTILE, "deep"], HOSTILE, Origin { text: HOSTILE.into(), ..Origin::default() }),
        ],
        files: BTreeMap::from([(
            "users/defaults.yaml".into(),
            lines.iter().enumerate().map(|(at, line)| (at + 1, (*line).to_string())).collect(),
        )]),
    }
}

/// What an expression gives, as JSON.
fn ask(tab: &Tab, expression: &str) -> String {
    let answer = tab.evaluate(&format!("JSON.stringify({expression})"), false).expect("the expression is one");
    answer.value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Wait until an expression is true.
fn wait(tab: &Tab, expression: &str) {
    for _ in 0..200 {
        if ask(tab, expression) == "true" {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("never true: {expression}");
}

/// The keys of the rows that can be seen.
const SEEN: &str = "[...document.querySelectorAll('.row')].filter(row => row.offsetParent).map(row => row.querySelector('.k').textContent)";

#[test]
#[ignore = "needs Chromium; .ci/run installs it and runs this"]
fn the_page_filters_and_tells_histories() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("page.html");
    std::fs::write(&file, page().to_html().unwrap()).unwrap();
    let profile = tempfile::tempdir().unwrap();
    let options = LaunchOptions {
        sandbox: false,
        enable_gpu: false,
        window_size: Some((1200, 900)),
        user_data_dir: Some(profile.path().to_path_buf()),
        args: FLAGS.iter().map(OsStr::new).collect(),
        idle_browser_timeout: Duration::from_secs(120),
        ..LaunchOptions::default()
    };
    let browser = Browser::new(options).expect("there is a Chromium that starts");
    let tab = browser.new_tab().unwrap();
    let said = Arc::new(Mutex::new(Vec::<String>::new()));
    let listener = said.clone();
    tab.enable_log().unwrap().enable_runtime().unwrap();
    tab.add_event_listener(Arc::new(move |event: &Event| {
        let message = match event {
            Event::LogEntryAdded(entry) => format!("{:?}", entry.params.entry),
            Event::RuntimeConsoleAPICalled(call) => format!("{:?}", call.params.args),
            Event::RuntimeExceptionThrown(thrown) => format!("{:?}", thrown.params.exception_details),
            _ => return,
        };
        listener.lock().unwrap().push(message);
    }))
    .unwrap();
    tab.navigate_to(&format!("file://{}", file.display())).unwrap();
    wait(&tab, "document.readyState === 'complete' && document.querySelector('.row') !== null");

    // Everything is there, and hostile texts are texts.
    assert_eq!(ask(&tab, &format!("{SEEN}.length")), "4");
    assert!(ask(&tab, "document.title").starts_with("\"users for </script>"));
    assert_eq!(ask(&tab, "document.querySelectorAll('img, main script').length"), "0");

    // The filter looks into keys, values and origins.
    for (typed, seen) in [
        ("sudo", r#"["0"]"#),
        ("SHELL", r#"["shell"]"#),
        (".yaml:5:", r#"["0"]"#),
        ("onerror", r#"["deep"]"#),
        ("nothing has this", "[]"),
    ] {
        tab.find_element("#search").unwrap().click().unwrap();
        tab.evaluate("document.getElementById('search').select()", false).unwrap();
        tab.type_str(typed).unwrap();
        assert_eq!(ask(&tab, SEEN), seen, "{typed}");
    }
    assert_eq!(ask(&tab, "document.getElementById('none').hidden"), "false");
    tab.evaluate("document.getElementById('search').select()", false).unwrap();
    tab.press_key("Backspace").unwrap();
    assert_eq!(ask(&tab, &format!("{SEEN}.length")), "4");

    // A click opens the history, with the lines of the file and the text marked.
    let marked = "[...document.querySelectorAll('#history mark')].map(mark => mark.textContent)";
    tab.find_element("[data-row='0']").unwrap().click().unwrap();
    assert_eq!(ask(&tab, marked), r#"["/bin/bash","values"]"#);
    let history = ask(&tab, "document.getElementById('history').textContent");
    assert!(history.contains("replaced by layer 2") && history.contains("because G@os is 'Debian'"), "{history}");
    assert_eq!(ask(&tab, "location.hash"), "\"#value=shell\"");
    // Columns are characters, of which some are two units in the browser.
    tab.find_element("[data-row='2']").unwrap().click().unwrap();
    assert_eq!(ask(&tab, marked), r#"["äö"]"#);
    tab.find_element("[data-row='3']").unwrap().click().unwrap();
    assert_eq!(ask(&tab, marked), "[]");

    // By keys alone: close, go on to the next, open.
    tab.press_key("Escape").unwrap();
    assert_eq!(ask(&tab, "document.getElementById('panel').hidden"), "true");
    assert_eq!(ask(&tab, "document.activeElement.dataset.row"), "\"3\"");
    for key in ["ArrowUp", "ArrowUp", "Enter"] {
        tab.press_key(key).unwrap();
    }
    assert_eq!(ask(&tab, marked), r#"["'sudo'"]"#);
    assert_eq!(ask(&tab, "document.activeElement.id"), "\"panel-title\"");

    // An address opens its value.
    tab.evaluate("location.hash = '#value=' + encodeURIComponent('ü€𝒙:0')", false).unwrap();
    wait(&tab, &format!("{marked}[0] === 'äö'"));

    // Dark, as the flags ask for.
    assert_eq!(ask(&tab, "getComputedStyle(document.body).backgroundColor"), "\"rgb(22, 24, 28)\"");
    assert_eq!(ask(&tab, "document.documentElement.scrollWidth <= innerWidth"), "true");
    assert!(!ask(&tab, "document.title").contains("broken\""));
    let said = said.lock().unwrap();
    assert!(said.is_empty(), "{said:?}");
}
