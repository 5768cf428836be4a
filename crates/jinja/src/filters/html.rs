//! Jinja2's filters for HTML and URLs.

use std::sync::LazyLock;

use fancy_regex::Regex;
use mapstack_pyobject::{CallArgs, DictPart, Error, Obj, Result, dict_iter, methods, to_str};
use mapstack_value::pytext::markup::{self, strip_tags};
use mapstack_value::quote_str;

use super::call::{flag, index_of, inner, misuse, no_attribute, pair, plain, text_or};
use crate::dialect::Filters;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[
    ("e", escape),
    ("escape", escape),
    ("forceescape", forceescape),
    ("safe", safe),
    ("striptags", striptags),
    ("urlencode", urlencode),
    ("urlize", urlize),
    ("xmlattr", xmlattr),
];

fn escape(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("escape", "s").alone(args)?;
    methods::escape(&x)
}

fn forceescape(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("do_forceescape", "value").alone(args)?;
    Ok(Obj::Markup(markup::escape(&to_str(&x)?).into()))
}

fn safe(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("do_mark_safe", "value").alone(args)?;
    Ok(Obj::Markup(to_str(&x)?.into()))
}

fn striptags(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("do_striptags", "value").alone(args)?;
    let text = to_str(&x)?;
    vm.burn(text.len() / 16)?;
    Ok(Obj::from(strip_tags(&text)))
}

fn xmlattr(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [autospace] = inner("do_xmlattr", "d").bind(args, 0, ["autospace"])?;
    let Obj::Dict(dict) = &x else {
        return Err(no_attribute(&x, "items"));
    };
    let mut out = String::new();
    for (key, value) in dict.entries() {
        vm.burn(1)?;
        if matches!(value, Obj::None | Obj::Undefined(_)) {
            continue;
        }
        let key = Obj::from(&key);
        let wrong = |found: &str| {
            Error::type_error(format!(
                "expected string or bytes-like object, got '{found}'"
            ))
        };
        let name = text_or(&key, wrong)?;
        if name.contains(|c: char| c.is_ascii_whitespace() || matches!(c, '\x0b' | '/' | '>' | '='))
        {
            return Err(Error::value_error(format!(
                "Invalid character in attribute name: {}",
                quote_str(&name)
            )));
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&to_str(&methods::escape(&key)?)?);
        out.push_str("=\"");
        out.push_str(&to_str(&methods::escape(&value)?)?);
        out.push('"');
    }
    if flag(autospace, true)? && !out.is_empty() {
        out.insert(0, ' ');
    }
    Ok(if vm.autoescape() {
        Obj::Markup(out.into())
    } else {
        Obj::from(out)
    })
}

fn urlencode(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("do_urlencode", "value").alone(args)?;
    let items = match &x {
        Obj::Str(_) | Obj::Markup(_) | Obj::None | Obj::Bool(_) | Obj::Int(_) | Obj::Float(_) => {
            return quote(&x, false).map(Obj::from);
        }
        Obj::Dict(dict) => dict_iter(dict, DictPart::Items),
        Obj::Native(native) if native.iter().is_none() => return quote(&x, false).map(Obj::from),
        other => other.iter()?,
    };
    let mut pairs = Vec::new();
    while let Some(item) = items.next(vm)? {
        let [key, value] = pair(vm, &item)?;
        pairs.push(format!("{}={}", quote(&key, true)?, quote(&value, true)?));
    }
    Ok(Obj::from(pairs.join("&")))
}

/// Percent-encode; in a query a space is a plus and a slash is encoded, too.
fn quote(x: &Obj, query: bool) -> Result<String> {
    let bytes = match x {
        Obj::Bytes(b) => b.to_vec(),
        other => to_str(other)?.into_bytes(),
    };
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            b'/' if !query => out.push('/'),
            b' ' if query => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    Ok(out)
}

struct Patterns {
    link: Regex,
    mail: Regex,
    scheme: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let host = r"(?:https?://|www\.)(?:(?:[\w%-]+\.)+)?(?:[a-z]{2,63}|xn--[\w%]{2,59})";
    let domain = r"(?:[\w%-]{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil)";
    let address =
        r"https?://(?:\d{1,3}(?:\.\d{1,3}){3}|\[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\])";
    let link = format!(r"(?i)\A(?:{host}|{domain}|{address})(?::\d{{1,5}})?(?:[/?#]\S*)?\n?\z");
    Some(Patterns {
        link: Regex::new(&link).ok()?,
        mail: Regex::new(r"\A\S+@\w[\w.-]*\.\w+\n?\z").ok()?,
        scheme: Regex::new(r"\A[\w.+-]{2,}:/{0,2}\z").ok()?,
    })
});

fn urlize(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = [
        "trim_url_limit",
        "nofollow",
        "target",
        "rel",
        "extra_schemes",
    ];
    let [limit, nofollow, target, rel, schemes] =
        inner("do_urlize", "value").bind(args, 0, names)?;
    let Some(patterns) = &*PATTERNS else {
        return Err(Error::limit("urlize is not available"));
    };
    let given = |object: Option<Obj>| object.filter(|o| !o.is_none());
    let rel = relations(given(rel), flag(nofollow, false))?;
    let schemes = match given(schemes) {
        Some(schemes) => schemes_of(vm, patterns, &schemes)?,
        None => Vec::new(),
    };
    let linker = Linker {
        patterns,
        limit: given(limit).map(|l| index_of(&l)).transpose()?,
        rel: format!(" rel=\"{}\"", markup::escape(&rel)),
        target: match given(target) {
            Some(target) if target.truthy()? => {
                format!(" target=\"{}\"", to_str(&methods::escape(&target)?)?)
            }
            _ => String::new(),
        },
        schemes,
    };
    let text = to_str(&methods::escape(&x)?)?;
    vm.burn(text.len() / 8)?;
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(first) = rest.chars().next() {
        let blank = first.is_whitespace();
        let (word, after) = rest.split_at(
            rest.find(|c: char| c.is_whitespace() != blank)
                .unwrap_or(rest.len()),
        );
        if blank {
            out.push_str(word);
        } else {
            out.push_str(&linker.word(word));
        }
        rest = after;
    }
    Ok(if vm.autoescape() {
        Obj::Markup(out.into())
    } else {
        Obj::from(out)
    })
}

/// The words of a link's `rel`, in order.
fn relations(given: Option<Obj>, nofollow: Result<bool>) -> Result<String> {
    let given = match given {
        Some(rel) => to_str(&rel)?,
        None => String::new(),
    };
    let mut words: Vec<&str> = given.split_whitespace().chain(["noopener"]).collect();
    if nofollow? {
        words.push("nofollow");
    }
    words.sort_unstable();
    words.dedup();
    Ok(words.join(" "))
}

/// The schemes that are links beside those of the web and of mail.
fn schemes_of(vm: &Vm<'_>, patterns: &Patterns, given: &Obj) -> Result<Vec<String>> {
    let mut schemes = Vec::new();
    for scheme in given.collect(vm)? {
        let text = to_str(&scheme)?;
        if !matches!(patterns.scheme.is_match(&text), Ok(true)) {
            let scheme = super::call::quoted(&scheme);
            let message = format!("{scheme} is not a valid URI scheme prefix.");
            return Err(misuse(message));
        }
        schemes.push(text);
    }
    Ok(schemes)
}

struct Linker<'p> {
    patterns: &'p Patterns,
    limit: Option<i64>,
    rel: String,
    target: String,
    schemes: Vec<String>,
}

impl Linker<'_> {
    fn word(&self, word: &str) -> String {
        let mut start = 0;
        while let Some(mark) = ["(", "<", "&lt;"]
            .into_iter()
            .find(|mark| word[start..].starts_with(*mark))
        {
            start += mark.len();
        }
        let (head, mut middle) = word.split_at(start);
        let mut end = middle.len();
        while let Some(mark) = [")", ">", ".", ",", "\n", "&gt;"]
            .into_iter()
            .find(|m| middle[..end].ends_with(*m))
        {
            end -= mark.len();
        }
        let mut tail = &middle[end..];
        let whole = middle;
        middle = &whole[..end];
        // A bracket that was opened inside belongs to the link.
        for (open, close) in [("(", ")"), ("<", ">"), ("&lt;", "&gt;")] {
            let opened = middle.matches(open).count();
            if opened <= middle.matches(close).count() {
                continue;
            }
            for _ in 0..opened.min(tail.matches(close).count()) {
                let Some(at) = tail.find(close) else { break };
                middle = &whole[..middle.len() + at + close.len()];
                tail = &tail[at + close.len()..];
            }
        }
        format!("{head}{}{tail}", self.link(middle))
    }

    fn link(&self, text: &str) -> String {
        let matches = |pattern: &Regex, text: &str| matches!(pattern.is_match(text), Ok(true));
        let (rel, target) = (&self.rel, &self.target);
        let mail = |text: &str| matches(&self.patterns.mail, text);
        if matches(&self.patterns.link, text) {
            let shown = self.trimmed(text);
            let scheme = if text.starts_with("https://") || text.starts_with("http://") {
                ""
            } else {
                "https://"
            };
            return format!("<a href=\"{scheme}{text}\"{rel}{target}>{shown}</a>");
        }
        if let Some(address) = text.strip_prefix("mailto:").filter(|address| mail(address)) {
            return format!("<a href=\"{text}\">{address}</a>");
        }
        if text.contains('@')
            && !text.starts_with("www.")
            && !text.starts_with('@')
            && !text.contains(':')
            && mail(text)
        {
            return format!("<a href=\"mailto:{text}\">{text}</a>");
        }
        // The reference wraps once for each scheme that fits; more than one cannot fit twice.
        if self
            .schemes
            .iter()
            .any(|scheme| text != scheme && text.starts_with(scheme.as_str()))
        {
            return format!("<a href=\"{text}\"{rel}{target}>{text}</a>");
        }
        text.to_string()
    }

    fn trimmed(&self, text: &str) -> String {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        match self.limit {
            Some(limit) if length > limit => {
                let kept = if limit < 0 {
                    length.saturating_add(limit).max(0)
                } else {
                    limit
                };
                let kept: String = text
                    .chars()
                    .take(usize::try_from(kept).unwrap_or(0))
                    .collect();
                format!("{kept}...")
            }
            _ => text.to_string(),
        }
    }
}
