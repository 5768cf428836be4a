//! That texts are texts, whatever is in them.

use std::collections::BTreeMap;

use mapstack_report::page::{
    Bar, Changed, ChangedLine, Changes, Chart, EarlierValue, FilePlace, ListingItem, ListingPage,
    Page, PageLayer, PageOrigin, QuotedPlace, StatesOf, StatesPage, ValueRow,
};
use mapstack_report::states::StateRow;

const HOSTILE: [&str; 12] = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "&lt;b&gt;&amp;",
    "{{ 7 * 7 }}{% raw %}",
    "a\u{2028}b\u{2029}c",
    "\u{202e}txt.exe\u{2066}",
    "\0\u{1b}[31m\u{7f}",
    "\\u003c\\",
    "</style></title></textarea><plaintext>",
];

fn page(text: &str) -> Page {
    let text = || text.to_string();
    let place = FilePlace {
        file: text(),
        line: 1,
        column: 1,
    };
    let origin = || PageOrigin {
        text: text(),
        place: Some(place.clone()),
        computed: true,
        withheld: Some(text()),
    };
    let past = EarlierValue {
        value: text(),
        layer: 1,
        origin: origin(),
        ended: text(),
    };
    Page {
        formula: text(),
        minion: text(),
        key: Some(text()),
        layers: vec![PageLayer {
            title: text(),
            definition: Some(text()),
            because: vec![text()],
            merged: Some(text()),
            stage: text(),
        }],
        rows: vec![ValueRow {
            path: vec![text(), text()],
            value: text(),
            layer: 1,
            origin: origin(),
            past: vec![past],
        }],
        files: BTreeMap::from([(text(), BTreeMap::from([(1, text())]))]),
    }
}

/// The JSON of a page.
fn data(html: &str) -> serde_json::Value {
    let start = html.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = html[start..].find("</script>").unwrap() + start;
    serde_json::from_str(&html[start..end]).unwrap()
}

#[test]
fn hostile_texts_stay_texts() {
    let tags = |html: &str| {
        let names = [
            "<script",
            "</script",
            "<!--",
            "<img",
            "<b>",
            "</style",
            "</title",
            "<plaintext",
            "<bdi",
            "<button",
        ];
        names.map(|name| html.matches(name).count())
    };
    let harmless = tags(&page("harmless").to_html().unwrap());
    assert_eq!(harmless[..4], [2, 2, 0, 0]);
    // The directory that all files are below is named.
    let below = tags(&page("harm/less").to_html().unwrap());
    for text in HOSTILE {
        let html = page(text).to_html().unwrap();
        let expected = if text.contains('/') { below } else { harmless };
        assert_eq!(tags(&html), expected, "{text:?}");
        for hidden in [
            '\u{2028}', '\u{2029}', '\u{202e}', '\u{2066}', '\0', '\u{1b}', '\u{7f}',
        ] {
            assert!(!html.contains(hidden), "{text:?}");
        }
        let data = data(&html);
        let shown = data["rows"][0]["value"].as_str().unwrap();
        let visible = |c: char| match c {
            ' '..='~' => c.to_string(),
            c if c.is_ascii() => format!("\\x{:02x}", u32::from(c)),
            c => format!("\\u{:04x}", u32::from(c)),
        };
        assert_eq!(shown, text.chars().map(visible).collect::<String>());
        let file = data["rows"][0]["origin"]["place"]["file"].as_str().unwrap();
        assert_eq!(
            data["files"][file]["1"], shown,
            "excerpts are found by the names of files"
        );
    }
}

#[test]
fn hostile_texts_stay_texts_among_states() {
    for text in HOSTILE {
        let row = StateRow {
            function: text.into(),
            name: text.into(),
            place: text.into(),
            check: Some(text.into()),
            after: vec![("require", vec![0])],
            ..StateRow::default()
        };
        let minions = vec![StatesOf::new(text, &[row.clone(), row], &[])];
        let html = StatesPage { minions }.to_html().unwrap();
        let counts =
            ["<script", "<!--", "<img", "<b>", "<plaintext"].map(|tag| html.matches(tag).count());
        assert_eq!(counts, [0; 5], "{text:?}");
        for hidden in ['\u{2028}', '\u{202e}', '\0', '\u{1b}', '\u{7f}'] {
            assert!(!html.contains(hidden), "{text:?}");
        }
    }
}

#[test]
fn hostile_texts_stay_texts_among_changes() {
    let page = |text: &str| {
        let text = || text.to_string();
        let quoted = || {
            Some(QuotedPlace {
                text: text(),
                file: text(),
                line: 1,
                lines: vec![(1, text())],
            })
        };
        let line = |sign: &str| ChangedLine {
            sign: sign.into(),
            text: text(),
            from: text(),
        };
        let change = || Changed {
            formulas: text(),
            from: text(),
            title: text(),
            lines: vec![line("gone"), line("new")],
            was: quoted(),
            is: quoted(),
            message: Some(text()),
            bad: true,
            common: Some(text()),
            minions: vec![text(), format!("{}2", text())],
        };
        Changes {
            from: text(),
            to: text(),
            summary: text(),
            notes: vec![text()],
            failures: vec![change()],
            changes: vec![change()],
        }
    };
    let count = |html: &str| {
        [
            "<script", "<!--", "<img", "<b>", "</style", "<section", "<td",
        ]
        .map(|tag| html.matches(tag).count())
    };
    let harmless = count(&page("harmless").to_html().unwrap());
    for text in HOSTILE {
        let html = page(text).to_html().unwrap();
        assert_eq!(count(&html), harmless, "{text:?}");
        for hidden in ['\u{2028}', '\u{202e}', '\0', '\u{1b}'] {
            assert!(!html.contains(hidden), "{text:?}");
        }
        assert!(!html.contains("data-file=\"\"><"), "{text:?}");
    }
    let failures = page("x").to_html().unwrap();
    let (first, second) = (
        failures.find("change bad").unwrap(),
        failures.rfind("change bad").unwrap(),
    );
    assert!(first < second && failures.contains("class=\"matrix\""));
}

#[test]
fn hostile_texts_stay_texts_in_lists() {
    let page = |text: &str| {
        let text = || text.to_string();
        let place = QuotedPlace {
            text: text(),
            file: text(),
            line: 1,
            lines: vec![(1, text())],
        };
        let item = ListingItem {
            level: text(),
            bad: true,
            rule: text(),
            formula: text(),
            title: text(),
            place,
            notes: vec![text()],
        };
        let bars = vec![Bar {
            label: text(),
            members: vec![text()],
        }];
        ListingPage {
            verb: text(),
            title: text(),
            summary: text(),
            notes: vec![text()],
            charts: vec![Chart {
                title: text(),
                bars,
            }],
            items: vec![item],
        }
    };
    let count = |html: &str| {
        ["<script", "<!--", "<img", "<b>", "</style", "<section"]
            .map(|tag| html.matches(tag).count())
    };
    let harmless = page("harmless").to_html().unwrap();
    assert!(
        harmless.contains("width: 100%") && harmless.contains("change bad"),
        "{harmless}"
    );
    for text in HOSTILE {
        let html = page(text).to_html().unwrap();
        assert_eq!(count(&html), count(&harmless), "{text:?}");
        for hidden in ['\u{2028}', '\u{202e}', '\0', '\u{1b}'] {
            assert!(!html.contains(hidden), "{text:?}");
        }
    }
    // A listing without counts is a page as well.
    let empty = ListingPage {
        charts: vec![Chart::default()],
        ..ListingPage::default()
    };
    assert!(empty.to_html().is_ok());
}

#[test]
fn files_are_named_from_the_directory_that_all_are_below() {
    let row = |file: &str, layer: usize| ValueRow {
        path: vec![file.into()],
        value: "1".into(),
        layer,
        origin: PageOrigin {
            text: format!("{file}:1:2"),
            place: Some(FilePlace {
                file: file.into(),
                line: 1,
                column: 2,
            }),
            ..PageOrigin::default()
        },
        past: Vec::new(),
    };
    let layer = || PageLayer {
        merged: Some("strategy smart".into()),
        stage: "layers".into(),
        ..PageLayer::default()
    };
    let page = Page {
        layers: vec![layer(), layer()],
        rows: vec![
            row("/srv/salt/a/x.yaml", 1),
            row("/srv/salt/a/x.yaml", 1),
            row("/srv/salt/b/y.yaml", 2),
        ],
        files: BTreeMap::from([(
            "/srv/salt/a/x.yaml".into(),
            BTreeMap::from([(1, "a".into())]),
        )]),
        ..Page::default()
    };
    let html = page.to_html().unwrap();
    assert!(
        html.contains("Files are below <code><bdi>&#x2F;srv&#x2F;salt&#x2F;</bdi>"),
        "{html}"
    );
    assert_eq!(data(&html)["rows"][2]["origin"]["text"], "b/y.yaml:1:2");
    assert_eq!(data(&html)["files"]["a/x.yaml"]["1"], "a");
    // A repeated value is printed once.
    assert_eq!(html.matches("<span class=\"again\">").count(), 1);
    assert_eq!(html.matches("<bdi>strategy smart</bdi>").count(), 1);
    assert!(!html.contains("<dt>in</dt>"));
    assert!(
        html.contains("flex-grow: 2") && html.contains("2 values, 67 %"),
        "{html}"
    );
}

#[test]
fn a_page_asks_for_nothing_and_runs_one_script() {
    let html = page("x").to_html().unwrap();
    for address in ["http:", "https:", "url(", "@import", "src="] {
        assert!(!html.contains(address), "{address}");
    }
    assert!(html.contains("default-src 'none'") && html.contains("script-src 'sha256-"));
}

#[test]
fn an_empty_page_is_one() {
    let html = Page::default().to_html().unwrap();
    assert!(html.contains("0 values from 0 layers"));
}
