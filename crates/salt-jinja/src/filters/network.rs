//! Salt's filters for addresses, networks and paths. None of them asks the network.

use std::net::{Ipv4Addr, Ipv6Addr};

use mapstack_pyobject::{CallArgs, Entries, Error, Obj, Result, as_index, len, to_str};
use mapstack_value::Int;
use mapstack_value::posixpath::normpath;

use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{class_of, no_attribute, plain, quoted, room};
use mapstack_jinja::filters::number::parse_int;

pub(super) const TABLE: Filters = &[
    ("filter_by_networks", filter_by_networks),
    ("ip_host", ip_host),
    ("ipaddr", ipaddr),
    ("ipv4", |vm, x, args| {
        let [options] = plain("ipv4", "value").bind(args, 0, ["options"])?;
        filtered(vm, &x, 4, options.as_ref())
    }),
    ("ipv6", |vm, x, args| {
        let [options] = plain("ipv6", "value").bind(args, 0, ["options"])?;
        filtered(vm, &x, 6, options.as_ref())
    }),
    ("ipwrap", ipwrap),
    ("is_ip", |_, x, args| {
        let [options] = plain("is_ip_filter", "ip_addr").bind(args, 0, ["options"])?;
        Ok(Obj::Bool(
            accepted(&x, 4, options.as_ref())?.is_some()
                || accepted(&x, 6, options.as_ref())?.is_some(),
        ))
    }),
    ("is_ipv4", |_, x, args| {
        let [options] = plain("is_ipv4_filter", "ip_addr").bind(args, 0, ["options"])?;
        Ok(Obj::Bool(accepted(&x, 4, options.as_ref())?.is_some()))
    }),
    ("is_ipv6", |_, x, args| {
        let [options] = plain("is_ipv6_filter", "ip_addr").bind(args, 0, ["options"])?;
        Ok(Obj::Bool(accepted(&x, 6, options.as_ref())?.is_some()))
    }),
    ("mac_str_to_bytes", mac_str_to_bytes),
    ("network_hosts", network_hosts),
    ("network_size", network_size),
    ("path_join", path_join),
];

/// An address of either version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    version: u8,
    bits: u128,
    /// The zone of a version 6 address (`%eth0`).
    scope: Option<String>,
}

/// An address with the length of its network's prefix, if one was given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Interface {
    address: Address,
    prefix: Option<u32>,
}

impl Address {
    fn v4(bits: u32) -> Self {
        Address {
            version: 4,
            bits: u128::from(bits),
            scope: None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Some(Self::v4(address.to_bits()));
        }
        let (text, scope) = match text.split_once('%') {
            Some((_, "")) => return None,
            Some((text, scope)) if !scope.contains('%') => (text, Some(scope.to_string())),
            Some(_) => return None,
            None => (text, None),
        };
        let address: Ipv6Addr = text.parse().ok()?;
        Some(Address {
            version: 6,
            bits: address.to_bits(),
            scope,
        })
    }

    /// `ipaddress.ip_address(x)`, `None` being a `ValueError`.
    pub fn of(x: &Obj) -> Option<Self> {
        match (x, as_index(x)) {
            (_, Some(i)) => {
                let bits: u128 = i.to_string().parse().ok()?;
                Some(u32::try_from(bits).map_or(
                    Address {
                        version: 6,
                        bits,
                        scope: None,
                    },
                    Self::v4,
                ))
            }
            (Obj::Str(s) | Obj::Markup(s), None) => Self::parse(s),
            (Obj::Bytes(bytes), None) => match (
                <[u8; 4]>::try_from(&**bytes),
                <[u8; 16]>::try_from(&**bytes),
            ) {
                (Ok(four), _) => Some(Self::v4(u32::from_be_bytes(four))),
                (_, Ok(sixteen)) => Some(Address {
                    version: 6,
                    bits: u128::from_be_bytes(sixteen),
                    scope: None,
                }),
                _ => None,
            },
            _ => None,
        }
    }

    /// 4 or 6.
    #[must_use]
    pub fn version(&self) -> u8 {
        self.version
    }

    /// The address as a number.
    #[must_use]
    pub fn bits(&self) -> u128 {
        self.bits
    }

    /// Whether it is the machine itself.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.within_any(&["127.0.0.0/8", "::1/128"])
    }

    fn width(&self) -> u32 {
        if self.version == 4 { 32 } else { 128 }
    }

    /// As Python writes it.
    #[must_use]
    pub fn text(&self) -> String {
        if self.version == 4 {
            return Ipv4Addr::from_bits(u32::try_from(self.bits).unwrap_or(0)).to_string();
        }
        let mut text = compressed(self.bits);
        if let Some(scope) = &self.scope {
            text.push('%');
            text.push_str(scope);
        }
        text
    }

    fn within(&self, network: &str) -> bool {
        Network::parse(network, false).is_ok_and(|network| network.contains(self))
    }

    fn within_any(&self, networks: &[&str]) -> bool {
        networks.iter().any(|network| self.within(network))
    }

    /// Whether the world cannot reach it.
    #[must_use]
    pub fn is_private(&self) -> bool {
        if self.version == 6 && self.bits >> 32 == 0xffff {
            return Self::v4(u32::try_from(self.bits & 0xffff_ffff).unwrap_or(0)).is_private();
        }
        self.within_any(PRIVATE)
    }
}

/// As of the tables of IANA that the reference's Python knows.
const PRIVATE: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/29",
    "192.0.0.170/31",
    "192.0.2.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "240.0.0.0/4",
    "::1/128",
    "::/128",
    "::ffff:0:0/96",
    "100::/64",
    "2001::/23",
    "2001:2::/48",
    "2001:db8::/32",
    "2001:10::/28",
    "fc00::/7",
    "fe80::/10",
];
const RESERVED: &[&str] = &[
    "240.0.0.0/4",
    "::/8",
    "100::/8",
    "200::/7",
    "400::/6",
    "800::/5",
    "1000::/4",
    "4000::/3",
    "6000::/3",
    "8000::/3",
    "a000::/3",
    "c000::/3",
    "e000::/4",
    "f000::/5",
    "f800::/6",
    "fe00::/9",
];

/// A version 6 address with the longest run of zeros left out.
fn compressed(bits: u128) -> String {
    let groups: Vec<u128> = (0..8).map(|i| bits >> (112 - 16 * i) & 0xffff).collect();
    let mut best = (0, 0);
    let mut start = 0;
    while start < 8 {
        let length = groups[start..].iter().take_while(|g| **g == 0).count();
        if length > best.1 {
            best = (start, length);
        }
        start += length.max(1);
    }
    let hex = |groups: &[u128]| {
        groups
            .iter()
            .map(|g| format!("{g:x}"))
            .collect::<Vec<_>>()
            .join(":")
    };
    match best {
        (start, length) if length > 1 => format!(
            "{}::{}",
            hex(&groups[..start]),
            hex(&groups[start + length..])
        ),
        _ => hex(&groups),
    }
}

/// The length of a prefix, given as such or as a mask.
fn prefix_length(text: &str, version: u8) -> Option<u32> {
    let width = if version == 4 { 32 } else { 128 };
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok().filter(|length| *length <= width);
    }
    if version != 4 {
        return None;
    }
    let mask = text.parse::<Ipv4Addr>().ok()?.to_bits();
    // A net mask, else a host mask.
    if mask.leading_ones() + mask.trailing_zeros() >= 32 {
        return Some(mask.leading_ones());
    }
    (mask.leading_zeros() + mask.trailing_ones() >= 32).then(|| mask.leading_zeros())
}

impl Interface {
    /// `ipaddress.ip_address(x)`, else `ipaddress.ip_interface(x)`.
    fn of(x: &Obj) -> Option<Self> {
        if let Some(address) = Address::of(x) {
            return Some(Interface {
                address,
                prefix: None,
            });
        }
        if let Obj::Tuple(parts) = x {
            let [address, prefix] = &parts[..] else {
                return None;
            };
            let address = Address::of(address)?;
            let prefix = Some(prefix_length(&to_str(prefix).ok()?, address.version)?);
            return Some(Interface { address, prefix });
        }
        let (address, prefix) = x.as_str()?.split_once('/')?;
        let address = Address::parse(address)?;
        let prefix = Some(prefix_length(prefix, address.version)?);
        Some(Interface { address, prefix })
    }

    fn text(&self) -> String {
        match self.prefix {
            Some(prefix) => format!("{}/{prefix}", self.address.text()),
            None => self.address.text(),
        }
    }

    /// Whether an option of Salt's filters holds.
    fn has(&self, option: &str) -> bool {
        let address = &self.address;
        // An interface of version 6 is special only when its network is nothing else.
        let alone = address.version == 4 || self.prefix.is_none_or(|prefix| prefix == 128);
        match option {
            "global" | "public" => !address.is_private(),
            "private" => address.is_private(),
            "link-local" | "linklocal" | "ll" | "link_local" => {
                address.within_any(&["169.254.0.0/16", "fe80::/10"])
            }
            "loopback" | "lo" => {
                address.within("127.0.0.0/8") || (address.within("::1/128") && alone)
            }
            "multicast" => address.within_any(&["224.0.0.0/4", "ff00::/8"]),
            "reserved" => address.within_any(RESERVED),
            "site-local" | "sl" | "site_local" => address.within("fec0::/10"),
            "unspecified" => address.bits == 0 && alone,
            _ => true,
        }
    }
}

/// The address as text, if it is of that version and has the options (Salt: `_is_ipv`).
fn accepted(x: &Obj, version: u8, options: Option<&Obj>) -> Result<Option<String>> {
    if let Obj::Undefined(u) = x {
        u.check()?;
    }
    let Some(interface) = Interface::of(x).filter(|i| i.address.version == version) else {
        return Ok(None);
    };
    let Some(options) = options else {
        return Ok(Some(interface.text()));
    };
    if !options.truthy()? {
        return Ok(Some(interface.text()));
    }
    let Some(options) = options.as_str() else {
        return Err(no_attribute(options, "split"));
    };
    Ok(options
        .split(',')
        .all(|option| interface.has(option.trim()))
        .then(|| interface.text()))
}

/// Salt's `_ipv_filter`.
fn filtered(vm: &Vm<'_>, x: &Obj, version: u8, options: Option<&Obj>) -> Result<Obj> {
    match x {
        Obj::Str(_) | Obj::Markup(_) | Obj::Bytes(_) => {
            Ok(accepted(x, version, options)?.map_or(Obj::None, Obj::from))
        }
        Obj::List(_) | Obj::Tuple(_) => accepted_items(&x.collect(vm)?, version, options),
        Obj::Iter(iter) if iter.type_name() == "generator" => {
            accepted_items(&x.collect(vm)?, version, options)
        }
        _ => Ok(Obj::None),
    }
}

fn accepted_items(items: &[Obj], version: u8, options: Option<&Obj>) -> Result<Obj> {
    let mut kept = Vec::new();
    for item in items {
        kept.extend(accepted(item, version, options)?.map(Obj::from));
    }
    Ok(Obj::list(kept))
}

fn ipaddr(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [options] = plain("ipaddr", "value").bind(args, 0, ["options"])?;
    both_versions(vm, &x, options.as_ref())
}

fn both_versions(vm: &Vm<'_>, x: &Obj, options: Option<&Obj>) -> Result<Obj> {
    let (v4, v6) = (filtered(vm, x, 4, options)?, filtered(vm, x, 6, options)?);
    Ok(match (v4, v6) {
        (Obj::List(a), Obj::List(b)) => Obj::list([a.items(), b.items()].concat()),
        (Obj::None, v6) => v6,
        (v4, _) => v4,
    })
}

/// The accepted addresses of the input; `None` without any. (Salt: `_filter_ipaddr`)
fn addresses(
    vm: &Vm<'_>,
    x: &Obj,
    args: CallArgs,
    function: &'static str,
) -> Result<Option<Vec<Obj>>> {
    let [options, version] = plain(function, "value").bind(args, 0, ["options", "version"])?;
    let found = match version {
        Some(version) if version.truthy()? => match as_index(&version).and_then(|v| v.to_i64()) {
            Some(4) => filtered(vm, x, 4, options.as_ref())?,
            Some(6) => filtered(vm, x, 6, options.as_ref())?,
            _ => Obj::None,
        },
        _ => both_versions(vm, x, options.as_ref())?,
    };
    Ok(match found {
        Obj::List(list) if list.is_empty() => None,
        Obj::List(list) => Some(list.items()),
        Obj::None => None,
        one => Some(vec![one]),
    })
}

/// Apply a function to each address; to the only one if the input was not a list.
fn each(
    vm: &Vm<'_>,
    x: &Obj,
    args: CallArgs,
    function: &'static str,
    apply: impl Fn(&Obj) -> Result<Obj>,
) -> Result<Obj> {
    let Some(found) = addresses(vm, x, args, function)? else {
        return Ok(Obj::None);
    };
    let is_list = matches!(x, Obj::List(_) | Obj::Tuple(_) | Obj::Iter(_));
    match found.first() {
        Some(first) if !is_list => apply(first),
        _ => Ok(Obj::list(
            found.iter().map(apply).collect::<Result<Vec<_>>>()?,
        )),
    }
}

fn ip_host(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    each(vm, &x, args, "ip_host", |address| {
        let Some(interface) = Interface::of(address) else {
            return Ok(Obj::None);
        };
        let prefix = interface
            .prefix
            .unwrap_or_else(|| interface.address.width());
        Ok(Obj::from(format!("{}/{prefix}", interface.address.text())))
    })
}

/// A network: its first address and the length of its prefix.
pub struct Network {
    first: Address,
    prefix: u32,
}

impl Network {
    /// `ipaddress.ip_network(text, strict)`.
    ///
    /// # Errors
    /// A `ValueError` for a text that is not a network, and with `strict` for an address inside one.
    pub fn parse(text: &str, strict: bool) -> Result<Self> {
        let unreadable = || {
            let shown = mapstack_value::quote_str(text);
            Error::value_error(format!(
                "{shown} does not appear to be an IPv4 or IPv6 network"
            ))
        };
        let (address, prefix) = text
            .split_once('/')
            .map_or((text, None), |(a, p)| (a, Some(p)));
        let mut first = Address::parse(address).ok_or_else(unreadable)?;
        let width = first.width();
        let prefix = match prefix {
            Some(prefix) => prefix_length(prefix, first.version).ok_or_else(unreadable)?,
            None => width,
        };
        let hosts = host_mask(width, prefix);
        if strict && first.bits & hosts != 0 {
            return Err(Error::value_error(format!("{text} has host bits set")));
        }
        first.bits &= !hosts;
        first.scope = None;
        Ok(Network { first, prefix })
    }

    /// The first address.
    #[must_use]
    pub fn first(&self) -> Address {
        self.first.clone()
    }

    /// The last address.
    #[must_use]
    pub fn last(&self) -> Address {
        Address {
            bits: self.first.bits | host_mask(self.first.width(), self.prefix),
            ..self.first.clone()
        }
    }

    /// The mask of the prefix.
    #[must_use]
    pub fn mask(&self) -> Address {
        let width = self.first.width();
        Address {
            bits: host_mask(width, 0) & !host_mask(width, self.prefix),
            ..self.first.clone()
        }
    }

    /// As Python writes it.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}/{}", self.first.text(), self.prefix)
    }

    /// Whether an address belongs to it.
    #[must_use]
    pub fn contains(&self, address: &Address) -> bool {
        let hosts = host_mask(self.first.width(), self.prefix);
        self.first.version == address.version && address.bits & !hosts == self.first.bits
    }
}

/// The bits behind a prefix.
fn host_mask(width: u32, prefix: u32) -> u128 {
    let bits = width - prefix;
    if bits >= 128 {
        u128::MAX
    } else {
        (1 << bits) - 1
    }
}

fn network_size(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    each(vm, &x, args, "network_size", |address| {
        let network = Network::parse(&to_str(address)?, false)?;
        let bits = network.first.width() - network.prefix;
        Int::from(2)
            .pow(bits)
            .map(Obj::Int)
            .map_err(|e| Error::limit(e.to_string()))
    })
}

fn network_hosts(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    each(vm, &x, args, "network_hosts", |address| {
        let network = Network::parse(&to_str(address)?, false)?;
        let width = network.first.width();
        let hosts = host_mask(width, network.prefix);
        // The first and, in version 4, the last address of a larger network are not hosts.
        let (low, high) = match (width - network.prefix, network.first.version) {
            (0 | 1, _) => (0, hosts),
            (_, 4) => (1, hosts - 1),
            _ => (1, hosts),
        };
        let count = usize::try_from(high - low)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        room(vm, count.saturating_mul(64))?;
        let hosts = (low..=high).map(|host| {
            let bits = network.first.bits | host;
            Obj::from(
                Address {
                    version: network.first.version,
                    bits,
                    scope: None,
                }
                .text(),
            )
        });
        Ok(Obj::list(hosts.collect::<Vec<_>>()))
    })
}

fn filter_by_networks(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [networks] = plain("filter_by_networks", "values").bind(args, 1, ["networks"])?;
    let networks = networks.unwrap_or_default();
    if networks.is_none() {
        return Ok(x);
    }
    let networks: Vec<Network> = networks
        .collect(vm)?
        .iter()
        .map(|n| Network::parse(&to_str(n)?, true))
        .collect::<Result<_>>()?;
    let inside = |addresses: &Obj| -> Result<Obj> {
        let mut kept = Vec::new();
        for address in addresses.collect(vm)? {
            for network in &networks {
                vm.burn(1)?;
                let Some(parsed) = Address::of(&address) else {
                    let message = format!(
                        "{} does not appear to be an IPv4 or IPv6 address",
                        quoted(&address)
                    );
                    return Err(Error::value_error(message));
                };
                if network.contains(&parsed) {
                    kept.push(address.clone());
                }
            }
        }
        Ok(Obj::list(kept))
    };
    match &x {
        Obj::Dict(dict) => {
            let mut out = Entries::default();
            for (key, addresses) in dict.entries() {
                out.insert(key, inside(&addresses)?);
            }
            Ok(Obj::Dict(mapstack_pyobject::DictRef::new(out)))
        }
        Obj::List(_) | Obj::Tuple(_) | Obj::Str(_) | Obj::Markup(_) => inside(&x),
        other => Err(Error::value_error(format!(
            "Do not know how to filter a {}",
            class_of(other)
        ))),
    }
}

fn ipwrap(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("ipwrap", "data").alone(args)?;
    let wrap = |item: Obj| -> Result<Obj> {
        if accepted(&item, 6, None)?.is_none() {
            return Ok(item);
        }
        let text = to_str(&item)?;
        match Address::parse(text.trim_start_matches('[').trim_end_matches(']')) {
            Some(address) if address.version == 6 => Ok(Obj::from(format!("[{}]", address.text()))),
            Some(address) => Ok(Obj::from(address.text())),
            None => {
                let shown = mapstack_value::quote_str(&text);
                Err(Error::value_error(format!(
                    "{shown} does not appear to be an IPv4 or IPv6 address"
                )))
            }
        }
    };
    match &x {
        Obj::List(_) | Obj::Tuple(_) => Ok(Obj::list(
            x.collect(vm)?
                .into_iter()
                .map(wrap)
                .collect::<Result<Vec<_>>>()?,
        )),
        _ => wrap(x),
    }
}

fn mac_str_to_bytes(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("mac_str_to_bytes", "mac_str").alone(args)?;
    let length = len(&x)?;
    let Some(text) = x.as_str().filter(|_| length == 12 || length == 17) else {
        return Err(Error::value_error("Invalid MAC address"));
    };
    let separator = (length == 17).then(|| text.chars().nth(2)).flatten();
    let digits: Vec<char> = text.chars().filter(|c| Some(*c) != separator).collect();
    let mut bytes = Vec::with_capacity(6);
    for i in (0..12).step_by(2) {
        let two: String = digits.iter().skip(i).take(2).collect();
        let byte = parse_int(&two, 16)
            .and_then(|b| b.to_i64())
            .and_then(|b| u8::try_from(b).ok());
        bytes.push(byte.ok_or_else(|| {
            let shown = mapstack_value::quote_str(&two);
            Error::value_error(format!("invalid literal for int() with base 16: {shown}"))
        })?);
    }
    Ok(Obj::Bytes(bytes.into()))
}

fn path_join(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    for (name, value) in &args.named {
        match &**name {
            "use_posixpath" => {
                value.truthy()?;
            }
            other if other.starts_with("__") => {}
            other => {
                let message = format!(
                    "The following keyword arguments are not valid: {other}={}",
                    to_str(value)?
                );
                return Err(Error::new(mapstack_pyobject::ErrorKind::Salt, message));
            }
        }
    }
    let mut path = String::new();
    for (i, part) in std::iter::once(&x).chain(&args.positional).enumerate() {
        let text = match part {
            Obj::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => other
                .as_str()
                .map(ToString::to_string)
                .ok_or_else(|| super::strings::expected_text(other))?,
        };
        let text = normpath(&text);
        if i == 0 {
            path = text;
            continue;
        }
        if !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(text.trim_start_matches('/'));
    }
    Ok(Obj::from(normpath(&path)))
}
