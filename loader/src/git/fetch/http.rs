//! Git's smart protocol over HTTP, on the workspace's one HTTP client.

use std::any::Any;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gix::protocol::transport::client::AuthenticationRequired;
use gix_transport::client::blocking_io::http::{GetResponse, Http, PostBodyDataKind, PostResponse};
use ureq::config::RedirectAuthHeaders;
use ureq::http::{Request, Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy, ResponseExt as _};

use crate::git::Origin;
use crate::without_login;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// A server that says nothing for so long has gone.
const READ_TIMEOUT: Duration = Duration::from_secs(120);
const MAX_REDIRECTS: u32 = 5;
const AGENT: &str = concat!("git/mapstack-", env!("CARGO_PKG_VERSION"));

type Result<T = ()> = gix::Result<T>;

/// HTTP as git's transport wants it.
pub(super) struct Client {
    agent: Agent,
    authorization: Option<String>,
    insecure_auth: bool,
    /// Where a server sent us instead of the URL.
    redirected: Option<String>,
}

impl Client {
    /// A client with the certificates that this machine trusts; the environment names no proxy.
    pub(super) fn new(origin: &Origin) -> std::result::Result<Self, String> {
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .disable_verification(!origin.ssl_verify)
            .build();
        let proxy = match origin.proxy.as_str() {
            "" => None,
            proxy => Some(
                Proxy::new(proxy)
                    .map_err(|e| format!("'{}' is not a proxy: {e}", without_login(proxy)))?,
            ),
        };
        let agent = Agent::new_with_config(
            Agent::config_builder()
                .tls_config(tls)
                .http_status_as_error(false)
                .max_redirects(MAX_REDIRECTS)
                .redirect_auth_headers(RedirectAuthHeaders::SameHost)
                .timeout_connect(Some(CONNECT_TIMEOUT))
                .timeout_per_read(Some(READ_TIMEOUT))
                .user_agent(AGENT)
                .proxy(proxy)
                .build(),
        );
        let login = format!("{}:{}", origin.user, origin.password);
        let authorization =
            (login != ":").then(|| format!("Basic {}", BASE64_STANDARD.encode(login)));
        Ok(Client {
            agent,
            authorization,
            insecure_auth: origin.insecure_auth,
            redirected: None,
        })
    }

    fn run(
        &self,
        url: &str,
        headers: &[String],
        body: Option<Vec<u8>>,
    ) -> io::Result<Response<Body>> {
        let mut request = Request::builder()
            .method(if body.is_some() { "POST" } else { "GET" })
            .uri(url);
        for (name, value) in headers.iter().filter_map(|header| header.split_once(':')) {
            if !name.eq_ignore_ascii_case("user-agent") && !name.eq_ignore_ascii_case("expect") {
                request = request.header(name.trim(), value.trim());
            }
        }
        if let Some(authorization) = &self.authorization {
            if !url.starts_with("https://") && !self.insecure_auth {
                let why = "a password does not go over a connection that is not encrypted; \
                           use https, or set `insecure_auth` (`gitfs_insecure_auth`)";
                return Err(io::Error::other(why));
            }
            request = request.header("Authorization", authorization);
        }
        let answer = match body {
            Some(body) => self
                .agent
                .run(request.body(body).map_err(io::Error::other)?),
            None => self.agent.run(request.body(()).map_err(io::Error::other)?),
        };
        let answer = answer.map_err(ureq::Error::into_io)?;
        let (status, shown) = (answer.status(), without_query(url));
        if status.is_success() {
            return Ok(answer);
        }
        match status {
            StatusCode::UNAUTHORIZED => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                AuthenticationRequired {
                    www_authenticate: Vec::new(),
                },
            )),
            StatusCode::NOT_FOUND => Err(io::Error::other(format!(
                "{shown} is not there (HTTP 404); is the URL right, and does the repository need a `user` and a `password`?"
            ))),
            other => Err(io::Error::other(format!("{shown} answers {other}"))),
        }
    }
}

fn without_query(url: &str) -> &str {
    url.split_once('?').map_or(url, |(url, _)| url)
}

impl Http for Client {
    type Headers = Headers;
    type ResponseBody = Answer;
    type PostBody = Question;

    fn get(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<GetResponse<Headers, Answer>> {
        let headers: Vec<String> = headers
            .into_iter()
            .map(|header| header.as_ref().into())
            .collect();
        let answer = self
            .run(url, &headers, None)
            .map_err(gix::Error::from_error)?;
        let landed = answer.get_uri().to_string();
        if landed != url {
            self.redirected =
                Some(redirected(url, base_url, &landed).map_err(gix::Error::from_error)?);
        }
        let exchange = Exchange::shared(State::Answered {
            headers: listed(&answer),
            body: Some(answer.into_body()),
        });
        Ok(GetResponse {
            headers: Headers::new(&exchange),
            body: Answer::new(&exchange),
        })
    }

    fn post(
        &mut self,
        url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _body: PostBodyDataKind,
    ) -> Result<PostResponse<Headers, Answer, Question>> {
        let client = Client {
            agent: self.agent.clone(),
            authorization: self.authorization.clone(),
            insecure_auth: self.insecure_auth,
            redirected: None,
        };
        let headers = headers
            .into_iter()
            .map(|header| header.as_ref().into())
            .collect();
        let exchange = Exchange::shared(State::Asking {
            client,
            url: url.into(),
            headers,
            body: Vec::new(),
        });
        Ok(PostResponse {
            post_body: Question(exchange.clone()),
            headers: Headers::new(&exchange),
            body: Answer::new(&exchange),
        })
    }

    fn configure(&mut self, _config: &dyn Any) -> Result {
        Ok(())
    }

    fn redirected_base_url(&self) -> Option<String> {
        self.redirected.clone()
    }
}

/// The base URL after a redirect. It stays on its host, as passwords go there.
fn redirected(url: &str, base_url: &str, landed: &str) -> io::Result<String> {
    let tail = url.strip_prefix(base_url).unwrap_or_default();
    let host = |url: &str| {
        url.split_once("://")
            .map(|(_, rest)| rest.split('/').next().unwrap_or_default().to_string())
    };
    let is_safe =
        host(landed) == host(url) && (landed.starts_with("https://") || url.starts_with("http://"));
    match landed.strip_suffix(tail) {
        Some(base) if is_safe && !tail.is_empty() => Ok(base.into()),
        _ => Err(io::Error::other(format!(
            "the server sends us to {}; use that URL if it is right",
            without_query(landed)
        ))),
    }
}

/// Headers as lines.
fn listed(answer: &Response<Body>) -> Vec<u8> {
    let mut lines = Vec::new();
    for (name, value) in answer.headers() {
        lines.extend_from_slice(name.as_str().as_bytes());
        lines.extend_from_slice(b": ");
        lines.extend_from_slice(value.as_bytes());
        lines.push(b'\n');
    }
    lines
}

/// A question and its answer. The question is sent when the answer is first read.
struct Exchange(State);

enum State {
    Asking {
        client: Client,
        url: String,
        headers: Vec<String>,
        body: Vec<u8>,
    },
    Answered {
        headers: Vec<u8>,
        body: Option<Body>,
    },
    Failed,
}

type Shared = Arc<Mutex<Exchange>>;

impl Exchange {
    fn shared(state: State) -> Shared {
        Arc::new(Mutex::new(Exchange(state)))
    }

    /// Send what was written, if that was not done yet.
    fn send(&mut self) -> io::Result<()> {
        let state = std::mem::replace(&mut self.0, State::Failed);
        self.0 = match state {
            State::Asking {
                client,
                url,
                headers,
                body,
            } => {
                let answer = client.run(&url, &headers, Some(body))?;
                State::Answered {
                    headers: listed(&answer),
                    body: Some(answer.into_body()),
                }
            }
            State::Failed => return Err(io::Error::other("the server gave no answer")),
            answered @ State::Answered { .. } => answered,
        };
        Ok(())
    }
}

fn locked(shared: &Shared) -> std::sync::MutexGuard<'_, Exchange> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The body of a question.
pub(super) struct Question(Shared);

impl Write for Question {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut locked(&self.0).0 {
            State::Asking { body, .. } => {
                body.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            _ => Err(io::Error::other("the question was sent already")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The headers of an answer.
pub(super) struct Headers {
    exchange: Shared,
    lines: Option<io::Cursor<Vec<u8>>>,
}

impl Headers {
    fn new(exchange: &Shared) -> Self {
        Headers {
            exchange: exchange.clone(),
            lines: None,
        }
    }

    fn lines(&mut self) -> io::Result<&mut io::Cursor<Vec<u8>>> {
        if self.lines.is_none() {
            let mut exchange = locked(&self.exchange);
            exchange.send()?;
            let lines = match &mut exchange.0 {
                State::Answered { headers, .. } => std::mem::take(headers),
                _ => Vec::new(),
            };
            self.lines = Some(io::Cursor::new(lines));
        }
        Ok(self.lines.get_or_insert_default())
    }
}

impl Read for Headers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.lines()?.read(buffer)
    }
}

impl BufRead for Headers {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.lines()?.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if let Some(lines) = &mut self.lines {
            lines.consume(amount);
        }
    }
}

/// The body of an answer.
pub(super) struct Answer {
    exchange: Shared,
    reader: Option<BufReader<Box<dyn Read + Send>>>,
}

impl Answer {
    fn new(exchange: &Shared) -> Self {
        Answer {
            exchange: exchange.clone(),
            reader: None,
        }
    }

    fn reader(&mut self) -> io::Result<&mut BufReader<Box<dyn Read + Send>>> {
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => {
                let mut exchange = locked(&self.exchange);
                exchange.send()?;
                let body = match &mut exchange.0 {
                    State::Answered { body, .. } => body.take(),
                    _ => None,
                };
                let reader: Box<dyn Read + Send> = match body {
                    Some(body) => Box::new(body.into_with_config().limit(u64::MAX).reader()),
                    None => Box::new(io::empty()),
                };
                BufReader::with_capacity(64 << 10, reader)
            }
        };
        Ok(self.reader.insert(reader))
    }
}

impl Read for Answer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader()?.read(buffer)
    }
}

impl BufRead for Answer {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader()?.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if let Some(reader) = &mut self.reader {
            reader.consume(amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_on_their_host() {
        let base = "https://a/b";
        let url = "https://a/b/info/refs?service=git-upload-pack";
        for (landed, expected) in [
            (
                "https://a/b.git/info/refs?service=git-upload-pack",
                Some("https://a/b.git"),
            ),
            ("https://evil/b/info/refs?service=git-upload-pack", None),
            ("http://a/b/info/refs?service=git-upload-pack", None),
            ("https://a/login", None),
        ] {
            assert_eq!(
                redirected(url, base, landed).ok().as_deref(),
                expected,
                "{landed}"
            );
        }
    }
}
