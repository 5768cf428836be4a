//! That texts can be read: WCAG 2's contrast of the stylesheet's colours, in light and in dark.

use std::collections::BTreeMap;

const STYLE: &str = include_str!("../src/page/page.css");

/// The contrast that WCAG AA requires of texts.
const LEAST: f64 = 4.5;

/// Texts on the backgrounds that they have.
const PAIRS: [(&str, &[&str]); 6] = [
    (
        "text",
        &[
            "back", "card", "here", "hover", "gone", "come", "mark", "bad-back",
        ],
    ),
    ("muted", &["back", "card", "hover", "here", "bad-back"]),
    ("accent", &["back", "card"]),
    ("value", &["card", "hover", "here"]),
    ("bad", &["bad-back", "card"]),
    ("card", &["accent", "bad"]),
];

fn color(text: &str) -> [f64; 3] {
    let hex = text
        .trim()
        .strip_prefix('#')
        .expect("a colour is hexadecimal");
    assert_eq!(hex.len(), 6, "{text}");
    [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0)
}

/// WCAG's relative luminance.
fn luminance(text: &str) -> f64 {
    let linear = |part: f64| match part <= 0.04045 {
        true => part / 12.92,
        false => ((part + 0.055) / 1.055).powf(2.4),
    };
    let [red, green, blue] = color(text).map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The colours by name, in light and in dark.
fn named() -> BTreeMap<&'static str, [&'static str; 2]> {
    let of_line = |line: &'static str| {
        let (name, rest) = line
            .trim()
            .strip_prefix("--")?
            .split_once(": light-dark(")?;
        let (light, dark) = rest.strip_suffix(");")?.split_once(", ")?;
        Some((name, [light, dark]))
    };
    STYLE.lines().filter_map(of_line).collect()
}

#[test]
fn texts_have_the_contrast_of_wcag_aa() {
    assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 0.01);
    let named = named();
    for (text, backgrounds) in PAIRS {
        for back in backgrounds {
            for scheme in [0, 1] {
                let found = contrast(named[text][scheme], named[back][scheme]);
                assert!(
                    found >= LEAST,
                    "{text} on {back} in scheme {scheme}: {found:.2}"
                );
            }
        }
    }
}

#[test]
fn layers_have_colours_that_are_told_apart_and_texts_that_can_be_read() {
    let mut layers = Vec::new();
    for rule in STYLE.split(".l").skip(1) {
        let Some((_, rest)) = rule.split_once("{ --layer: ") else {
            continue;
        };
        let (back, rest) = rest.split_once("; --on-layer: ").unwrap();
        let (text, _) = rest.split_once(';').unwrap();
        let found = contrast(back, text);
        assert!(found >= LEAST, "{text} on {back}: {found:.2}");
        assert!(!layers.contains(&back), "{back} is there twice");
        layers.push(back);
    }
    assert_eq!(layers.len(), 8);
}
