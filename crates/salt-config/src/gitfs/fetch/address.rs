//! The address in a URL, and the part of it that git is given.

use crate::gitfs::RemoteSource;
use crate::gitfs::mirror::decoded;

/// The way of git to a repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The URL without a login over HTTP: the arguments of a program are visible to every user of a machine.
    pub url: String,
    /// The login, and the scheme and host that it is for.
    pub login: Option<Login>,
}

/// A name and a password for one host.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Login {
    pub host: String,
    pub user: String,
    pub password: String,
}

impl Address {
    /// The address of a repository on another machine.
    ///
    /// # Errors
    /// It is none that is fetched from, or a login would go over a connection that is not encrypted.
    pub(super) fn of(origin: &RemoteSource) -> Result<Self, String> {
        let url = origin.url.as_str();
        if url.contains(char::is_control) {
            return Err("it has characters that no URL has".into());
        }
        let Some((scheme, rest)) = url.split_once("://") else {
            return match url.split_once(':') {
                Some((host, path))
                    if !host.is_empty()
                        && !host.contains('/')
                        && !host.starts_with('-')
                        && !path.starts_with(':') =>
                {
                    Ok(Address {
                        url: url.into(),
                        login: None,
                    })
                }
                _ => Err("it is no URL; use https://, ssh:// or user@host:path".into()),
            };
        };
        match scheme.to_ascii_lowercase().as_str() {
            "ssh" => Ok(Address {
                url: url.into(),
                login: None,
            }),
            "http" | "https" => Self::over_http(origin, scheme, rest),
            other => Err(format!(
                "{other}:// is not supported; use https:// or ssh://"
            )),
        }
    }

    fn over_http(origin: &RemoteSource, scheme: &str, rest: &str) -> Result<Self, String> {
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (own, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if host.is_empty() {
            return Err("it names no host".into());
        }
        let port = host.rsplit_once(':').filter(|_| !host.ends_with(']'));
        if port.is_some_and(|(_, port)| !port.bytes().all(|b| b.is_ascii_digit())) {
            return Err("its host has no number as a port; in a password, write %2F for '/' and %40 for '@'".into());
        }
        let (mut user, mut password) = (origin.user.clone(), origin.password.clone());
        if !own.is_empty() {
            let (own_user, own_password) = own.split_once(':').unwrap_or((own, ""));
            user = decoded(own_user);
            if !own_password.is_empty() {
                password = decoded(own_password);
            }
        }
        let has_login = !(user.is_empty() && password.is_empty());
        if has_login && !scheme.eq_ignore_ascii_case("https") && !origin.insecure_auth {
            return Err(
                "a password does not go over a connection that is not encrypted; use https, or set `insecure_auth` \
                 (`gitfs_insecure_auth`)"
                    .into(),
            );
        }
        if [&user, &password]
            .iter()
            .any(|text| text.contains(['\n', '\r', '\0']))
        {
            return Err("a `user` or `password` has a line break, which git does not take".into());
        }
        Ok(Address {
            url: format!("{scheme}://{host}{path}"),
            login: has_login.then(|| Login {
                host: format!("{scheme}://{host}"),
                user,
                password,
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Address, String> {
        Address::of(&RemoteSource::new(url))
    }

    #[test]
    fn only_what_leads_to_other_machines_is_an_address() {
        for url in [
            "https://example.org/a",
            "HTTPS://example.org/a",
            "ssh://git@example.org:22/a",
            "git@example.org:a/b.git",
            "example.org:a",
        ] {
            assert_eq!(of(url).map(|a| (a.url, a.login)), Ok((url.into(), None)));
        }
        for url in [
            "ext::sh -c x",
            "git://example.org/a",
            "svn://example.org/a",
            "--upload-pack=x",
            "-oProxyCommand=x:a",
            "srv/a",
            "https:///a",
            "https://me:hun/ter2@example.org/a",
            "https://example.org/a\nb",
            "",
        ] {
            assert!(of(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_login_is_taken_out_of_the_url() {
        let address = of("https://me:s%40cret@example.org:8443/a").unwrap();
        assert_eq!(address.url, "https://example.org:8443/a");
        let login = address.login.unwrap();
        assert_eq!(
            (&*login.host, &*login.user, &*login.password),
            ("https://example.org:8443", "me", "s@cret")
        );
        assert_eq!(of("https://example.org/a@b").unwrap().login, None);
        assert!(of("http://me:secret@example.org/a").is_err());
        let origin = RemoteSource {
            user: "me".into(),
            password: "secret".into(),
            ..RemoteSource::new("https://example.org/a")
        };
        assert!(Address::of(&origin).unwrap().login.is_some());
    }
}
