//! Salt's filters for addresses, networks and paths. None of them asks the network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, ipv4_mask_to_prefix};
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
    ip: IpAddr,
    /// The zone of a version 6 address (`%eth0`).
    scope: Option<String>,
}

/// An address with the length of its network's prefix, if one was given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Interface {
    address: Address,
    prefix: Option<u8>,
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Address { ip, scope: None }
    }
}

impl Address {
    fn v6(bits: u128) -> Self {
        IpAddr::from(Ipv6Addr::from_bits(bits)).into()
    }

    fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Some(IpAddr::from(address).into());
        }
        let (text, scope) = match text.split_once('%') {
            Some((_, "")) => return None,
            Some((text, scope)) if !scope.contains('%') => (text, Some(scope.to_string())),
            Some(_) => return None,
            None => (text, None),
        };
        let address: Ipv6Addr = text.parse().ok()?;
        Some(Address {
            ip: address.into(),
            scope,
        })
    }

    /// `ipaddress.ip_address(x)`, `None` being a `ValueError`.
    pub fn of(x: &Obj) -> Option<Self> {
        match (x, as_index(x)) {
            (_, Some(i)) => {
                let bits: u128 = i.to_string().parse().ok()?;
                let short = u32::try_from(bits).map(|bits| IpAddr::from(Ipv4Addr::from_bits(bits)));
                Some(short.map_or_else(|_| Self::v6(bits), Self::from))
            }
            (Obj::Str(s) | Obj::Markup(s), None) => Self::parse(s),
            (Obj::Bytes(bytes), None) => {
                let short = <[u8; 4]>::try_from(&**bytes).map(IpAddr::from);
                let ip = short.or_else(|_| <[u8; 16]>::try_from(&**bytes).map(IpAddr::from));
                ip.ok().map(Self::from)
            }
            _ => None,
        }
    }

    /// 4 or 6.
    #[must_use]
    pub fn version(&self) -> u8 {
        if self.ip.is_ipv4() { 4 } else { 6 }
    }

    /// The address as a number.
    #[must_use]
    pub fn bits(&self) -> u128 {
        match self.ip {
            IpAddr::V4(ip) => ip.to_bits().into(),
            IpAddr::V6(ip) => ip.to_bits(),
        }
    }

    /// True if it is the machine itself.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.ip.is_loopback()
    }

    fn width(&self) -> u8 {
        if self.ip.is_ipv4() { 32 } else { 128 }
    }

    /// As Python writes it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = match self.ip {
            // Python before 3.13 writes the last 32 bits of a mapped address as it writes all others.
            IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => {
                let [.., high, low] = ip.segments();
                format!("::ffff:{high:x}:{low:x}")
            }
            ip => ip.to_string(),
        };
        if let Some(scope) = &self.scope {
            text.push('%');
            text.push_str(scope);
        }
        text
    }

    fn within_any(&self, networks: &[&str]) -> bool {
        let mut networks = networks
            .iter()
            .filter_map(|text| text.parse::<IpNet>().ok());
        networks.any(|network| network.contains(&self.ip))
    }

    /// True if the world cannot reach it.
    #[must_use]
    pub fn is_private(&self) -> bool {
        Address::from(self.ip.to_canonical()).within_any(PRIVATE)
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

/// The length of a prefix, given as such or as a mask.
fn prefix_length(text: &str, address: &Address) -> Option<u8> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return text
            .parse()
            .ok()
            .filter(|length| *length <= address.width());
    }
    if address.ip.is_ipv6() {
        return None;
    }
    let mask: Ipv4Addr = text.parse().ok()?;
    // A net mask, else a host mask.
    ipv4_mask_to_prefix(mask)
        .or_else(|_| ipv4_mask_to_prefix(!mask))
        .ok()
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
            let prefix = Some(prefix_length(&to_str(prefix).ok()?, &address)?);
            return Some(Interface { address, prefix });
        }
        let (address, prefix) = x.as_str()?.split_once('/')?;
        let address = Address::parse(address)?;
        let prefix = Some(prefix_length(prefix, &address)?);
        Some(Interface { address, prefix })
    }

    fn text(&self) -> String {
        match self.prefix {
            Some(prefix) => format!("{}/{prefix}", self.address.text()),
            None => self.address.text(),
        }
    }

    /// True if an option of Salt's filters holds.
    fn has(&self, option: &str) -> bool {
        let address = &self.address;
        // An interface of version 6 is special only when its network is nothing else.
        let alone = address.ip.is_ipv4() || self.prefix.is_none_or(|prefix| prefix == 128);
        match option {
            "global" | "public" => !address.is_private(),
            "private" => address.is_private(),
            "link-local" | "linklocal" | "ll" | "link_local" => {
                address.within_any(&["169.254.0.0/16", "fe80::/10"])
            }
            "loopback" | "lo" => address.ip.is_loopback() && alone,
            "multicast" => address.ip.is_multicast(),
            "reserved" => address.within_any(RESERVED),
            "site-local" | "sl" | "site_local" => address.within_any(&["fec0::/10"]),
            "unspecified" => address.ip.is_unspecified() && alone,
            _ => true,
        }
    }
}

/// The address as text, if it is of that version and has the options (Salt: `_is_ipv`).
fn accepted(x: &Obj, version: u8, options: Option<&Obj>) -> Result<Option<String>> {
    if let Obj::Undefined(u) = x {
        u.check()?;
    }
    let Some(interface) = Interface::of(x).filter(|i| i.address.version() == version) else {
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
pub struct Network(IpNet);

impl Network {
    /// `ipaddress.ip_network(x, strict)`, where numbers and bytes are addresses.
    ///
    /// # Errors
    /// As [`Network::parse`].
    pub fn of(x: &Obj, strict: bool) -> Result<Self> {
        match Address::of(x) {
            Some(address) if x.as_str().is_none() => Self::parse(&address.text(), strict),
            _ => Self::parse(&to_str(x)?, strict),
        }
    }

    /// `ipaddress.ip_network(text, strict)`.
    ///
    /// # Errors
    /// A `ValueError` for a text that is not a network, and with `strict` for an address inside one.
    pub fn parse(text: &str, strict: bool) -> Result<Self> {
        let read = || {
            let (address, prefix) = text
                .split_once('/')
                .map_or((text, None), |(a, p)| (a, Some(p)));
            let address = Address::parse(address)?;
            let prefix = match prefix {
                Some(prefix) => prefix_length(prefix, &address)?,
                None => address.width(),
            };
            IpNet::new(address.ip, prefix).ok()
        };
        let network = read().ok_or_else(|| {
            let shown = mapstack_value::quote_str(text);
            Error::value_error(format!(
                "{shown} does not appear to be an IPv4 or IPv6 network"
            ))
        })?;
        if strict && network.trunc() != network {
            return Err(Error::value_error(format!("{text} has host bits set")));
        }
        Ok(Network(network.trunc()))
    }

    /// The first address.
    #[must_use]
    pub fn first(&self) -> Address {
        self.0.network().into()
    }

    /// The last address.
    #[must_use]
    pub fn last(&self) -> Address {
        self.0.broadcast().into()
    }

    /// The mask of the prefix.
    #[must_use]
    pub fn mask(&self) -> Address {
        self.0.netmask().into()
    }

    /// As Python writes it.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}/{}", self.first().text(), self.0.prefix_len())
    }

    /// True if an address belongs to it.
    #[must_use]
    pub fn contains(&self, address: &Address) -> bool {
        self.0.contains(&address.ip)
    }

    /// The number of bits of its hosts.
    fn host_bits(&self) -> u8 {
        self.0.max_prefix_len() - self.0.prefix_len()
    }
}

fn network_size(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    each(vm, &x, args, "network_size", |address| {
        let network = Network::parse(&to_str(address)?, false)?;
        Int::from(2)
            .pow(network.host_bits().into())
            .map(Obj::Int)
            .map_err(|e| Error::limit(e.to_string()))
    })
}

fn network_hosts(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    each(vm, &x, args, "network_hosts", |address| {
        let network = Network::parse(&to_str(address)?, false)?;
        // Only an address without a network keeps its zone.
        if let Some(alone) = Address::of(address) {
            return Ok(Obj::list(vec![Obj::from(alone.text())]));
        }
        // The first and, in version 4, the last address of a larger network are not hosts.
        let inner = u128::from(network.host_bits() > 1);
        let (low, high) = (network.first().bits() + inner, network.last().bits());
        let is_v4 = network.first().ip.is_ipv4();
        let high = if is_v4 { high - inner } else { high };
        let count = usize::try_from(high - low)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        room(vm, count.saturating_mul(64))?;
        let hosts = (low..=high).map(|bits| match u32::try_from(bits) {
            Ok(bits) if is_v4 => Address::from(IpAddr::from(Ipv4Addr::from_bits(bits))),
            _ => Address::v6(bits),
        });
        Ok(Obj::list(
            hosts.map(|host| Obj::from(host.text())).collect::<Vec<_>>(),
        ))
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
        .map(|n| Network::of(n, true))
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
            Some(address) if address.ip.is_ipv6() => Ok(Obj::from(format!("[{}]", address.text()))),
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
