//! Calls that Salt has answered over the same files and the same web server.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;

use mapstack::value::json;
use mapstack::value::{Map, Value};
use mapstack::{Call, CallError, Functions};
use mapstack_frontend::host::{Host, Permissions};
use serde_json::Value as Json;
use tempfile::TempDir;

const EVERYTHING: [&str; 20] = [
    "cmd.*",
    "dnsutil.*",
    "environ.*",
    "file.*",
    "group.*",
    "http.*",
    "network.*",
    "user.*",
    "dns_check",
    "file_hashsum",
    "get_uid",
    "http_query",
    "is_bin_file",
    "is_empty",
    "is_text_file",
    "list_files",
    "which",
    "file.read",
    "cmd.run",
    "http.query",
];

/// Errors that the reference words differently, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "salt['cmd.run']('/nonexistent/prog')",
        "shows the arguments of a Python function",
    ),
    ("salt['cmd.run'](12)", "as above"),
    (
        "salt['http.query']('@URL/bad-json', decode=True, status=True, text=True)",
        "does not say what is not JSON",
    ),
];

/// Classes of errors in words of our own.
const OTHER_WORDS: &[&str] = &["UnicodeDecodeError", "TypeError"];

fn recorded() -> Json {
    serde_json::from_str(include_str!("data/calls.json")).expect("the record is JSON")
}

fn make_tree(root: &Path, tree: &Json) {
    for entry in tree.as_array().expect("a list") {
        let path = root.join(entry["path"].as_str().expect("a path"));
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory can be made");
        if let Some(target) = entry["link"].as_str() {
            symlink(target, &path).expect("a link can be made");
            continue;
        }
        let content = match entry["hex"].as_str() {
            Some(hex) => (0..hex.len() / 2)
                .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex"))
                .collect(),
            None => entry["text"].as_str().expect("text").as_bytes().to_vec(),
        };
        fs::write(&path, content).expect("a file can be written");
        let mode = u32::from_str_radix(entry["mode"].as_str().expect("a mode"), 8).expect("octal");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode can be set");
    }
}

/// A web server with the recorded answers; it runs until the tests end.
fn serve(answers: Json) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &answers);
        }
    });
    url
}

fn answer(stream: TcpStream, answers: &Json) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let request: Vec<String> = line.split_whitespace().map(String::from).collect();
    let mut headers: Vec<(String, String)> = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().into()));
    }
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, n)| n.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let text = match answers[request.get(1)?].as_str() {
        Some(text) => text.to_string(),
        None => echo(&request, headers, &body),
    };
    reader.get_mut().write_all(text.as_bytes()).ok()
}

fn echo(request: &[String], mut headers: Vec<(String, String)>, body: &[u8]) -> String {
    headers.retain(|(name, _)| {
        name == "authorization" || name == "content-type" || name.starts_with("x-")
    });
    headers.sort();
    let asked: Value = [
        Value::from(&*request[0]),
        Value::from(&*request[1]),
        Value::from(headers.into_iter().collect::<Map>()),
        Value::from(&*String::from_utf8_lossy(body)),
    ]
    .into_iter()
    .collect();
    let text = json::dumps(&asked, &json::DumpOptions::default()).expect("JSON");
    format!(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    )
}

/// The outcome of a call, in the form of the record.
fn outcome(answer: Result<Value, CallError>, name: &str) -> (String, String) {
    match answer {
        Ok(mut value) => {
            if let (Value::Map(map), "cmd.run_all") = (&mut value, name) {
                map.shift_remove("pid");
            }
            (
                "result".into(),
                json::dumps(&value, &json::DumpOptions::default())
                    .unwrap_or_else(|e| e.to_string()),
            )
        }
        Err(e) => (e.class().unwrap_or("Salt").into(), e.to_string()),
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one loop over the records, with the rules by which an answer counts as equal"
)]
fn calls_are_answered_as_salt_answers_them() {
    let recorded = recorded();
    let directory = TempDir::new().expect("a temporary directory");
    let root = directory.path().canonicalize().expect("it is there");
    make_tree(&root, &recorded["tree"]);
    let (root, url) = (
        root.to_str().expect("text").to_string(),
        serve(recorded["answers"].clone()),
    );
    let host = Host::new(Permissions::parse(EVERYTHING).expect("known names"));
    let (mut wrong, mut excused) = (Vec::new(), Vec::new());
    for record in recorded["calls"].as_array().expect("a list") {
        let given = |what: &str| {
            let text = record[what]
                .to_string()
                .replace("@DIR", &root)
                .replace("@URL", &url);
            json::loads(&text).expect("JSON")
        };
        let name = record["call"].as_str().expect("a name");
        let mut call = Call::new(name);
        call.args = given("args").as_list().expect("a list").to_vec();
        call.kwargs = given("kwargs").as_map().expect("a mapping").clone();
        let back = |text: String| text.replace(&root, "@DIR").replace(&url, "@URL");
        let (kind, said) = outcome(host.call(&call).expect("an answer"), name);
        let said = back(said);
        let expected = match record["error"].as_str() {
            None => {
                let value = json::loads(&record["result"].to_string()).expect("JSON");
                (
                    "result".to_string(),
                    json::dumps(&value, &json::DumpOptions::default()).expect("JSON"),
                )
            }
            Some(class) => {
                let salts = [
                    "CommandExecutionError",
                    "SaltInvocationError",
                    "TimedProcTimeoutError",
                ];
                let class = if salts.contains(&class) {
                    "Salt"
                } else {
                    class
                };
                (
                    class.to_string(),
                    record["message"].as_str().expect("a message").to_string(),
                )
            }
        };
        let same_words = said == expected.1 || OTHER_WORDS.contains(&&*kind);
        let shown = back(call.to_string());
        if kind == expected.0 && same_words {
            continue;
        }
        match DIFFERENT
            .iter()
            .find(|(call, _)| *call == shown && kind == expected.0)
        {
            Some((call, _)) => excused.push(*call),
            None => wrong.push(format!(
                "{shown}\n  Salt: {} {}\n  here: {kind} {said}",
                expected.0, expected.1
            )),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} calls differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let stale: Vec<&&str> = DIFFERENT
        .iter()
        .map(|(call, _)| call)
        .filter(|call| !excused.contains(call))
        .collect();
    assert!(stale.is_empty(), "no longer different: {stale:?}");
}
