//! That texts are texts, whatever is in them.

use std::collections::BTreeMap;

use mapstack_page::{Layer, Origin, Page, Past, Place, Row};

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
    let place = Place {
        file: text(),
        line: 1,
        column: 1,
    };
    let origin = || Origin {
        text: text(),
        place: Some(place.clone()),
        computed: true,
        withheld: Some(text()),
    };
    let past = Past {
        value: text(),
        layer: 1,
        origin: origin(),
        ended: text(),
    };
    Page {
        formula: text(),
        minion: text(),
        key: Some(text()),
        layers: vec![Layer {
            title: text(),
            definition: Some(text()),
            because: vec![text()],
            merged: Some(text()),
            stage: text(),
        }],
        rows: vec![Row {
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
    for text in HOSTILE {
        let html = page(text).to_html().unwrap();
        assert_eq!(tags(&html), harmless, "{text:?}");
        for hidden in [
            '\u{2028}', '\u{2029}', '\u{202e}', '\u{2066}', '\0', '\u{1b}', '\u{7f}',
        ] {
            assert!(!html.contains(hidden), "{text:?}");
        }
        let data = data(&html);
        let shown = data["rows"][0]["value"].as_str().unwrap();
        if text.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
            assert_eq!(shown, text);
        } else {
            assert!(shown.contains("\\u{"), "{shown}");
        }
        assert_eq!(
            data["files"][shown]["1"], shown,
            "excerpts are found by the names of files"
        );
    }
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
