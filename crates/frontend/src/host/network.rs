//! `network.*` and name look-ups: this machine's addresses, and what the resolver says.

use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use mapstack::value::{Map, Value};
use mapstack::{Call, CallError};
use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::InterfaceFlags;

use crate::host::args::{Result, listed, map, required, text, truth_or, unsupported};
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[
    ("dns_check", dns_check),
    ("dnsutil.A", |call| resolved(call, SocketAddr::is_ipv4)),
    ("dnsutil.AAAA", |call| resolved(call, SocketAddr::is_ipv6)),
    ("network.get_hostname", |call| {
        let [] = call.bind([])?;
        let name = nix::unistd::gethostname()
            .map_err(|e| CallError::new(format!("the machine has no name: {e}")))?;
        Ok(name.to_string_lossy().into_owned().into())
    }),
    ("network.hw_addr", hw_addr),
    ("network.hwaddr", hw_addr),
    ("network.interfaces", |call| {
        let [] = call.bind([])?;
        interfaces().map(Value::from)
    }),
    ("network.ip_addrs", |call| ip_addrs(call, IpAddr::is_ipv4)),
    ("network.ip_addrs6", |call| ip_addrs(call, IpAddr::is_ipv6)),
    ("network.ipaddrs", |call| ip_addrs(call, IpAddr::is_ipv4)),
    ("network.ipaddrs6", |call| ip_addrs(call, IpAddr::is_ipv6)),
];

fn all_addresses() -> Result<Vec<InterfaceAddress>> {
    let found = getifaddrs()
        .map_err(|e| CallError::new(format!("the interfaces cannot be listed: {e}")))?;
    Ok(found.collect())
}

fn address(entry: Option<&nix::sys::socket::SockaddrStorage>) -> Option<IpAddr> {
    let entry = entry?;
    let v4 = entry.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
    v4.or_else(|| entry.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip())))
}

/// The interfaces with what is known about each (Salt: `salt.utils.network.interfaces`).
fn interfaces() -> Result<Map> {
    let mut all = Map::new();
    for entry in all_addresses()? {
        // An address can have a label below its interface's name.
        let label = entry.interface_name.as_str();
        let name = label.split(':').next().unwrap_or(label);
        if !all.contains_key(name) {
            all.insert(name, Map::new());
        }
        let Some(Value::Map(interface)) = all.get_mut(name) else {
            continue;
        };
        interface.insert("up", entry.flags.contains(InterfaceFlags::IFF_UP));
        if let Some(link) = entry.address.as_ref().and_then(|a| a.as_link_addr())
            && let Some(bytes) = link.addr()
        {
            let parts: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            interface.insert("hwaddr", parts.join(":"));
        }
        let Some(ip) = address(entry.address.as_ref()) else {
            continue;
        };
        let (list, described) = described(&entry, ip, label);
        match interface.get_mut(list) {
            Some(Value::List(addresses)) => addresses.make_mut().push(described),
            _ => {
                let addresses: Value = [described].into_iter().collect();
                interface.insert(list, addresses);
            }
        }
    }
    Ok(all)
}

/// An address of an interface, and the list it belongs to.
fn described(entry: &InterfaceAddress, ip: IpAddr, label: &str) -> (&'static str, Value) {
    let netmask = address(entry.netmask.as_ref());
    match ip {
        IpAddr::V4(ip) => {
            let mask = netmask.map_or(Value::None, |mask| mask.to_string().into());
            let broadcast = entry.broadcast.as_ref();
            let brd =
                address(broadcast.filter(|_| entry.flags.contains(InterfaceFlags::IFF_BROADCAST)));
            let brd = brd.map_or(Value::None, |brd| brd.to_string().into());
            let described = map([
                ("address", ip.to_string().into()),
                ("netmask", mask),
                ("broadcast", brd),
                ("label", label.into()),
            ]);
            ("inet", described)
        }
        IpAddr::V6(ip) => {
            let ones = match netmask {
                Some(IpAddr::V6(mask)) => mask.to_bits().count_ones(),
                _ => 128,
            };
            let scope = if ip.is_loopback() {
                "host"
            } else if ip.is_unicast_link_local() {
                "link"
            } else {
                "global"
            };
            let described = map([
                ("address", ip.to_string().into()),
                ("prefixlen", ones.to_string().into()),
                ("scope", scope.into()),
            ]);
            ("inet6", described)
        }
    }
}

fn hw_addr(call: &Call) -> Result<Value> {
    let [iface] = call.bind(["iface"])?;
    let iface = text(iface, call, "iface")?;
    let all = interfaces()?;
    Ok(match all.get(&*iface) {
        Some(Value::Map(interface)) => interface
            .get("hwaddr")
            .cloned()
            .unwrap_or_else(|| "".into()),
        _ => {
            let names: Vec<String> = all.keys().map(ToString::to_string).collect();
            format!(
                "Interface \"{iface}\" not in available interfaces: \"{}\"",
                names.join("\", \"")
            )
            .into()
        }
    })
}

fn ip_addrs(call: &Call, family: impl Fn(&IpAddr) -> bool) -> Result<Value> {
    let [interface, loopback, cidr, kind] =
        call.bind(["interface", "include_loopback", "cidr", "type"])?;
    for (name, given) in [("cidr", cidr), ("type", kind)] {
        if given.is_some_and(|value| value.truthy()) {
            return Err(unsupported(call, name));
        }
    }
    let loopback = truth_or(loopback, false);
    let patterns = interface
        .filter(|i| !i.is_none())
        .map(|interface| listed(&interface));
    let wanted = |name: &str| match &patterns {
        None => true,
        Some(patterns) => patterns
            .iter()
            .any(|p| glob::Pattern::new(p).is_ok_and(|p| p.matches(name))),
    };
    let mut found: Vec<IpAddr> = Vec::new();
    for entry in all_addresses()? {
        let name = entry.interface_name.split(':').next().unwrap_or_default();
        found.extend(
            address(entry.address.as_ref())
                .filter(|ip| family(ip) && wanted(name) && (loopback || !ip.is_loopback())),
        );
    }
    found.sort_unstable();
    found.dedup();
    Ok(found.into_iter().map(|ip| ip.to_string()).collect())
}

fn resolved(call: &Call, family: fn(&SocketAddr) -> bool) -> Result<Value> {
    let [host, nameserver] = call.bind(["host", "nameserver"])?;
    if nameserver.is_some_and(|nameserver| nameserver.truthy()) {
        return Err(unsupported(call, "nameserver"));
    }
    let host = text(host, call, "host")?;
    let found: Vec<String> = match (&*host, 0).to_socket_addrs() {
        Ok(addresses) => addresses
            .filter(family)
            .map(|address| address.ip().to_string())
            .collect(),
        Err(_) => Vec::new(),
    };
    Ok(if found.is_empty() {
        format!("Unable to resolve {host}").into()
    } else {
        found.into_iter().collect()
    })
}

/// A name's address, the first that something answers at if any does.
fn dns_check(call: &Call) -> Result<Value> {
    let [addr, port, _safe, ipv6] = call.bind(["addr", "port", "safe", "ipv6"])?;
    let addr = text(addr, call, "addr")?;
    let port = required(port, call, "port")?.to_string();
    let port: u16 = port
        .parse()
        .map_err(|_| CallError::new(format!("dns_check: '{port}' is not a port")))?;
    let wanted = |address: &SocketAddr| match &ipv6 {
        Some(Value::Bool(false)) => address.is_ipv4(),
        Some(v6) if v6.truthy() => address.is_ipv6(),
        _ => true,
    };
    let resolved: Vec<SocketAddr> = (&*addr, port)
        .to_socket_addrs()
        .map(Iterator::collect)
        .unwrap_or_default();
    let mut found: Vec<SocketAddr> = resolved.iter().copied().filter(wanted).collect();
    if found.is_empty() && ipv6.as_ref().is_some_and(Value::truthy) {
        found = resolved;
    }
    let answers =
        |address: &&SocketAddr| TcpStream::connect_timeout(address, Duration::from_secs(2)).is_ok();
    // A name with many dead addresses must not hold everything up.
    match found.iter().take(8).find(answers).or(found.first()) {
        Some(SocketAddr::V4(address)) => Ok(address.ip().to_string().into()),
        Some(SocketAddr::V6(address)) => Ok(format!("[{}]", address.ip()).into()),
        None => Err(CallError::new(format!(
            "DNS lookup or connection check of '{addr}' failed."
        ))),
    }
}
