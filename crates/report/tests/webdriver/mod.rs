//! A browser, by the W3C's WebDriver protocol.
//!
//! The protocol is a few JSON requests to a local program, so a client for what one test asks builds
//! in no time; the crates that drive a browser are among the slowest of a whole build.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Keys that are not characters, as the protocol names them.
pub mod key {
    pub const BACKSPACE: &str = "\u{e003}";
    pub const ENTER: &str = "\u{e007}";
    pub const ESCAPE: &str = "\u{e00c}";
    pub const UP: &str = "\u{e013}";
}

/// A running browser with one window, which ends with this value.
pub struct Browser {
    driver: Child,
    session: String,
    /// For the profile and the sockets of the browser, which leaves them behind.
    _temporary: TempDir,
}

impl Browser {
    /// Start the driver on a port of its choice, and by it a browser without a window.
    pub fn start(flags: &[&str]) -> Self {
        let program = std::env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let temporary = TempDir::new().expect("a directory for the browser");
        let mut driver = Command::new(&program)
            .arg("--port=0")
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| {
                panic!(
                    "{}: {e}; install chromedriver, or name it in CHROMEDRIVER",
                    program.display()
                )
            });
        let mut said = BufReader::new(driver.stdout.take().expect("the output is piped"));
        let port = std::iter::repeat_with(|| {
            let mut line = String::new();
            assert!(
                said.read_line(&mut line).unwrap() > 0,
                "chromedriver ended before it named its port"
            );
            line
        })
        .find_map(|line| {
            Some(
                line.trim()
                    .trim_end_matches('.')
                    .split_once("successfully on port ")?
                    .1
                    .to_owned(),
            )
        })
        .expect("lines do not end");
        let mut browser = Browser {
            driver,
            _temporary: temporary,
            session: format!("http://127.0.0.1:{port}/session"),
        };
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": flags},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = browser.post("", &capabilities);
        let id = session["sessionId"]
            .as_str()
            .expect("a session has a name")
            .to_owned();
        browser.session = format!("{}/{id}", browser.session);
        browser
    }

    /// Open an address, and wait until it has loaded.
    pub fn open(&self, url: &str) {
        self.post("/url", &json!({"url": url}));
    }

    /// The value of an expression.
    pub fn ask(&self, expression: &str) -> Value {
        self.run(&format!("return {expression}"))
    }

    /// Run statements.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Wait until an expression is true.
    pub fn wait(&self, expression: &str) {
        for _ in 0..200 {
            if self.ask(expression) == json!(true) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("never true: {expression}");
    }

    /// Click what a selector of CSS finds first.
    pub fn click(&self, selector: &str) {
        let found = self.post(
            "/element",
            &json!({"using": "css selector", "value": selector}),
        );
        let element = found
            .as_object()
            .and_then(|found| found.values().next())
            .and_then(Value::as_str);
        let element = element.expect("an element has a reference");
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Type characters and [keys](key), one after the other, into what has the focus.
    pub fn press(&self, keys: &str) {
        let strokes: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key.to_string()}))
            })
            .collect();
        self.post(
            "/actions",
            &json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]}),
        );
    }

    /// The messages that the page and the browser have written into the console.
    pub fn console(&self) -> Vec<Value> {
        let entries = self.post("/se/log", &json!({"type": "browser"}));
        entries.as_array().expect("a log is a list").clone()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .into();
        let url = format!("{}{path}", self.session);
        let request = agent.post(&url).header("Content-Type", "application/json");
        let mut answer = request
            .send(body.to_string())
            .unwrap_or_else(|e| panic!("{url}: {e}"));
        let text = answer.body_mut().read_to_string().unwrap();
        let status = answer.status();
        assert!(status.is_success(), "{url} {body}: {status}: {text}");
        serde_json::from_str::<Value>(&text).unwrap()["value"].take()
    }
}

impl Drop for Browser {
    /// Without its driver's word the browser would stay.
    fn drop(&mut self) {
        let _ = ureq::delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
