//! `http.query`, and the filter `http_query`.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mapstack::value::{Map, Value, json};
use mapstack::{Call, CallError, yaml};
use ureq::http::{HeaderMap, Request};
use ureq::tls::{RootCerts, TlsConfig};

use crate::host::args::{Result, errno, pairs, required, text, truth_or, unsupported};
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[("http.query", query), ("http_query", query)];

/// Bytes of an answer.
const LARGEST: u64 = 32 << 20;
/// The reference waits for an hour.
const TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
const AGENT: &str = concat!("mapstack/", env!("CARGO_PKG_VERSION"), " http.query()");

/// Arguments that are not supported, and would change the request or the result, or write files.
const UNSUPPORTED: [&str; 21] = [
    "data_file",
    "header_file",
    "cookies",
    "persist_session",
    "data_render",
    "header_render",
    "ca_bundle",
    "cert",
    "text_out",
    "headers_out",
    "decode_out",
    "stream",
    "streaming_callback",
    "header_callback",
    "handle",
    "formdata",
    "test",
    "test_url",
    "cookie_jar",
    "session_cookie_jar",
    "template_dict",
];

/// The arguments of a call by name.
struct HttpArgs<'c> {
    call: &'c Call,
    all: &'c Map,
}

impl HttpArgs<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.all.get(name).filter(|value| !value.is_none())
    }

    fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Bool(true))
    }

    fn truth(&self, name: &str, default: bool) -> bool {
        truth_or(self.get(name).cloned(), default)
    }
}

fn query(call: &Call) -> Result<Value> {
    let (url, named) = match call.args.as_slice() {
        [] => (call.kwargs.get("url").cloned(), false),
        [url] => (Some(url.clone()), call.kwargs.contains_key("url")),
        _ => {
            return Err(CallError::python(
                "TypeError",
                format!("{}() takes 1 argument without a name, the URL", call.name),
            ));
        }
    };
    if named {
        let message = format!("{}() got multiple values for argument 'url'", call.name);
        return Err(CallError::python("TypeError", message));
    }
    let given = HttpArgs {
        call,
        all: &call.kwargs,
    };
    if let Some(name) = UNSUPPORTED
        .iter()
        .find(|name| given.get(name).is_some_and(Value::truthy))
    {
        return Err(unsupported(call, name));
    }
    let url = with_params(
        &text(Some(required(url, call, "url")?), call, "url")?,
        given.get("params"),
    );
    if !["http://", "https://"]
        .iter()
        .any(|scheme| url.to_ascii_lowercase().starts_with(scheme))
    {
        return Err(CallError::new(format!("Unsupported url scheme: {url}")));
    }
    let request = request(&given, &url)?;
    match agent(&given)?.run(request) {
        Ok(response) => answer(&given, response),
        Err(e) => unanswered(&given, &url, e),
    }
}

/// The URL with more in its query.
fn with_params(url: &str, params: Option<&Value>) -> String {
    let Some(params) = params.filter(|params| params.truthy()) else {
        return url.into();
    };
    let (url, fragment) = url
        .split_once('#')
        .map_or((url, String::new()), |(url, f)| (url, format!("#{f}")));
    let joined = match url.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    format!("{url}{joined}{}{fragment}", encoded(params))
}

/// `urllib.parse.urlencode`.
fn encoded(fields: &Value) -> String {
    let field = |(name, value): (String, Value)| {
        format!("{}={}", quoted(&name), quoted(&value.to_string()))
    };
    pairs(fields)
        .into_iter()
        .map(field)
        .collect::<Vec<_>>()
        .join("&")
}

/// `urllib.parse.quote_plus`.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn request(given: &HttpArgs<'_>, url: &str) -> Result<Request<Vec<u8>>> {
    let method = given
        .get("method")
        .map_or_else(|| "GET".into(), ToString::to_string);
    let mut request = Request::builder().method(&*method).uri(url);
    for (name, value) in sent_headers(given, &method) {
        request = request.header(name, value);
    }
    let body = match given.get("data") {
        None => Vec::new(),
        Some(Value::Map(fields)) => encoded(&fields.clone().into()).into_bytes(),
        Some(Value::Bytes(bytes)) => bytes.to_vec(),
        Some(data) => data.to_string().into_bytes(),
    };
    request.body(body).map_err(|e| {
        CallError::new(format!(
            "{}: {url} cannot be requested: {e}",
            given.call.name
        ))
    })
}

/// The headers of a request: the argument `headers` of the call, and headers from its other arguments.
fn sent_headers(given: &HttpArgs<'_>, method: &str) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut set = |name: &str, value: String| match headers
        .iter_mut()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
    {
        Some(known) => known.1 = value,
        None => headers.push((name.into(), value)),
    };
    for (name, value) in given.get("header_dict").map(pairs).unwrap_or_default() {
        set(&name, value.to_string());
    }
    for header in given
        .get("header_list")
        .and_then(Value::as_list)
        .unwrap_or_default()
    {
        // The reference, too, loses the text after a second colon.
        let header = header.to_string();
        let mut parts = header.split(':').map(str::trim);
        if let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            set(name, value.into());
        }
    }
    set(
        "User-agent",
        given
            .get("agent")
            .map_or_else(|| AGENT.into(), ToString::to_string),
    );
    if let (Some(user), Some(password)) = (given.get("username"), given.get("password")) {
        set(
            "Authorization",
            format!(
                "Basic {}",
                BASE64_STANDARD.encode(format!("{user}:{password}"))
            ),
        );
    }
    if method == "POST"
        && !headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
    {
        headers.push((
            "Content-Type".into(),
            "application/x-www-form-urlencoded".into(),
        ));
    }
    headers
}

fn agent(given: &HttpArgs<'_>) -> Result<ureq::Agent> {
    let timeout = match given.get("timeout") {
        Some(Value::Int(n)) => n
            .to_i64()
            .and_then(|n| u64::try_from(n).ok())
            .map(Duration::from_secs),
        _ => None,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    // The certificates that this machine trusts, as the reference does.
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(provider)
        .disable_verification(!given.truth("verify_ssl", true))
        .build();
    Ok(ureq::Agent::new_with_config(
        ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .max_redirects(5)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(
                timeout.map_or(TIMEOUT, |timeout| timeout.min(TIMEOUT)),
            ))
            // The environment must not choose the way of requests.
            .proxy(None)
            .build(),
    ))
}

/// The result of a query without an answer.
fn unanswered(given: &HttpArgs<'_>, url: &str, e: ureq::Error) -> Result<Value> {
    let mut ret = Map::new();
    let error = match e {
        ureq::Error::Timeout(when) => {
            ret.insert("status", 599);
            format!("HTTP 599: Timeout ({when})")
        }
        other => {
            if given.is_true("status") {
                ret.insert("status", 0);
            }
            match other {
                ureq::Error::Io(e) => unreachable_host(&e).unwrap_or_else(|| errno(&e)),
                ureq::Error::HostNotFound => NO_SUCH_NAME.into(),
                ureq::Error::BadUri(why) => {
                    return Err(CallError::new(format!("{url} is not a URL: {why}")));
                }
                other => other.to_string(),
            }
        }
    };
    ret.insert("error", error);
    Ok(ret.into())
}

const NO_SUCH_NAME: &str = "[Errno -2] Name or service not known";

/// Python's message about a name that does not resolve; the number is in no part of the error.
fn unreachable_host(e: &std::io::Error) -> Option<String> {
    let text = e.to_string();
    let why = text.strip_prefix("failed to lookup address information: ")?;
    Some(if why.starts_with("Temporary failure") {
        format!("[Errno -3] {why}")
    } else {
        NO_SUCH_NAME.into()
    })
}

fn answer(given: &HttpArgs<'_>, response: ureq::http::Response<ureq::Body>) -> Result<Value> {
    let (parts, body) = response.into_parts();
    let mut bytes = Vec::new();
    let read = body
        .into_with_config()
        .limit(LARGEST)
        .reader()
        .read_to_end(&mut bytes);
    read.map_err(|e| {
        let name = &given.call.name;
        CallError::new(format!("{name}: the answer cannot be read: {e}"))
    })?;
    let header = |name: &str| parts.headers.get(name)?.to_str().ok();
    let body = decoded(given, bytes, header("content-type"))?;
    let code = i64::from(parts.status.as_u16());
    let mut ret = Map::new();
    if !parts.status.is_success() && given.truth("raise_error", true) {
        ret.insert("status", code);
        let reason = parts.status.canonical_reason().unwrap_or("Unknown");
        ret.insert("error", format!("HTTP {code}: {reason}"));
        ret.insert("body", body);
        return Ok(ret.into());
    }
    ret.insert("body", body.clone());
    if given.is_true("status") {
        ret.insert("status", code);
    }
    if given.is_true("headers") {
        ret.insert("headers", headers(&parts.headers));
    }
    let mut wants_text = given.is_true("text");
    if given.is_true("decode") {
        match Decoded::of(
            given,
            body.as_str().unwrap_or_default(),
            header("content-type"),
        )? {
            Decoded::Data(data) => {
                ret.insert("dict", data);
            }
            Decoded::Text => wants_text = true,
            Decoded::Unknown => {
                let choice = "('json', 'xml', 'yaml', 'plain')";
                ret.insert(
                    "error",
                    format!("Invalid decode_type specified. Valid decode types are: {choice}"),
                );
                return Ok(ret.into());
            }
        }
    }
    if wants_text {
        ret.insert("text", body);
    }
    Ok(ret.into())
}

/// The result of `decode=True` for an answer.
enum Decoded {
    Data(Value),
    Text,
    /// The call names a type that does not exist.
    Unknown,
}

impl Decoded {
    fn of(given: &HttpArgs<'_>, text: &str, content_type: Option<&str>) -> Result<Self> {
        let named = given
            .get("decode_type")
            .map_or_else(|| "auto".into(), ToString::to_string);
        let kind = content_type.unwrap_or("application/json");
        let automatic = ["xml", "json", "yaml"]
            .into_iter()
            .find(|format| kind.contains(format))
            .unwrap_or("plain");
        match if named == "auto" { automatic } else { &*named } {
            "json" => json::loads(text)
                .map(Decoded::Data)
                .map_err(|e| CallError::new(format!("the answer is not JSON: {e}"))),
            "yaml" => yaml::load(text)
                .map(Decoded::Data)
                .map_err(|e| CallError::new(format!("the answer is not YAML: {e}"))),
            "xml" => Err(CallError::new(format!(
                "{}: answers in XML are not decoded here",
                given.call.name
            ))
            .with_help("ask for text=True in place of decode=True")),
            "plain" => Ok(Decoded::Text),
            _ => Ok(Decoded::Unknown),
        }
    }
}

/// The body as text, unless the caller wants bytes.
fn decoded(given: &HttpArgs<'_>, bytes: Vec<u8>, content_type: Option<&str>) -> Result<Value> {
    let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
    let charset = content_type
        .split("charset=")
        .nth(1)
        .map(|c| c.split(';').next().unwrap_or_default());
    let charset = charset.map(|c| c.trim_matches(|c: char| c == '"' || c.is_whitespace()));
    match charset.filter(|_| content_type.starts_with("text/")) {
        Some("iso-8859-1" | "latin-1" | "latin1") => {
            return Ok(bytes.into_iter().map(char::from).collect::<String>().into());
        }
        // The reference decodes what names its encoding in any case.
        Some("utf-8" | "utf8" | "us-ascii" | "ascii") => {}
        Some(other) => {
            return Err(CallError::python(
                "LookupError",
                format!("unknown encoding: {other}"),
            ));
        }
        None if !given.truth("decode_body", true) => return Ok(Value::Bytes(bytes.into())),
        None => {}
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        CallError::new(format!("the answer is not UTF-8: {}", e.utf8_error()))
            .with_help("decode_body=False leaves it in bytes")
    })?;
    Ok(text.into())
}

/// Headers under names as `Content-Type`, what is repeated joined by commas.
fn headers(all: &HeaderMap) -> Map {
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| {
            first.to_ascii_uppercase().to_string() + chars.as_str()
        })
    };
    let mut map = Map::new();
    for name in all.keys() {
        let values: Vec<String> = all
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect();
        let name: Vec<String> = name.as_str().split('-').map(capital).collect();
        map.insert(name.join("-"), values.join(","));
    }
    map
}
