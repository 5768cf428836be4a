//! `network.*`: arithmetic on addresses, and what the grains say about the minion's own.
//!
//! The reference asks the machine for its interfaces. The grains `ip4_interfaces`, `ip6_interfaces`
//! and `hwaddr_interfaces` were made from that very answer, so they give these functions' results,
//! for the minion and not for the machine. In a pillar the machine is the master, so these calls have no answer.

use mapstack_pyobject::{CallArgs, Error, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{Address, Network, repr, to_str},
};
use mapstack_value::pytext::Fnmatch;
use mapstack_value::{Map, Value};

use super::{ModuleTable, text, truth_or};
use crate::Context;
use mapstack_diagnostic::{Diagnostic, ErrorKind as Kind};

pub(super) const TABLE: ModuleTable = &[
    ("network.calc_net", |_, _, args| {
        let [address, mask] = args.bind("network.calc_net", ["ip_addr", "netmask"])?;
        calc_net(&required(address, "network.calc_net", "ip_addr")?, mask)
            .map(|network| Obj::from(network.text()))
    }),
    ("network.convert_cidr", |_, _, args| {
        let [cidr] = args.bind("network.convert_cidr", ["cidr"])?;
        let network = calc_net(&required(cidr, "network.convert_cidr", "cidr")?, None)?;
        let parts = [
            ("network", network.first()),
            ("netmask", network.mask()),
            ("broadcast", network.last()),
        ];
        Ok(Obj::dict(parts.map(|(name, address)| {
            (name.into(), Obj::from(address.text()))
        })))
    }),
    ("network.hw_addr", hw_addr),
    ("network.hwaddr", hw_addr),
    ("network.in_subnet", |run, _, args| {
        let [cidr] = args.bind("network.in_subnet", ["cidr"])?;
        let cidr = required(cidr, "network.in_subnet", "cidr")?;
        let mut own = own_addresses(run, "network.in_subnet", &V4, None, false)?;
        own.extend(own_addresses(run, "network.in_subnet", &V6, None, false)?);
        Ok(Obj::Bool(subnet(run, &cidr)?.is_some_and(|network| {
            own.iter().any(|address| network.contains(address))
        })))
    }),
    ("network.interface_ip", |run, _, args| {
        let [interface] = args.bind("network.interface_ip", ["iface"])?;
        let interface = to_str(&required(interface, "network.interface_ip", "iface")?)?;
        let known = interfaces(run, "network.interface_ip", "ip4_interfaces")?;
        match known.get(&*interface) {
            Some(addresses) => {
                let first = addresses.as_list().and_then(<[Value]>::first).cloned();
                Ok(first.map_or_else(|| Obj::from(""), Obj::from))
            }
            None => Ok(unknown_interface(run, &interface, &known)),
        }
    }),
    ("network.ip_addrs", ip_addrs),
    ("network.ip_addrs6", ip_addrs6),
    ("network.ip_in_subnet", |run, _, args| {
        let [address, cidr] = args.bind("network.ip_in_subnet", ["ip_addr", "cidr"])?;
        let address = required(address, "network.ip_in_subnet", "ip_addr")?;
        let cidr = required(cidr, "network.ip_in_subnet", "cidr")?;
        let Some(network) = subnet(run, &cidr)? else {
            return Ok(Obj::Bool(false));
        };
        let addresses = match address {
            // As in the reference, a null means the minion's addresses.
            Obj::None => {
                let mut own = own_addresses(run, "network.ip_in_subnet", &V4, None, false)?;
                own.extend(own_addresses(
                    run,
                    "network.ip_in_subnet",
                    &V6,
                    None,
                    false,
                )?);
                return Ok(Obj::Bool(
                    own.iter().any(|address| network.contains(address)),
                ));
            }
            Obj::List(items) => items.items(),
            Obj::Tuple(items) => items.to_vec(),
            one => vec![one],
        };
        for address in &addresses {
            if network.contains(&address_of(address)?) {
                return Ok(Obj::Bool(true));
            }
        }
        Ok(Obj::Bool(false))
    }),
    ("network.ipaddrs", ip_addrs),
    ("network.ipaddrs6", ip_addrs6),
    ("network.is_loopback", |_, _, args| {
        let [address] = args.bind("network.is_loopback", ["ip_addr"])?;
        address_of(&required(address, "network.is_loopback", "ip_addr")?)
            .map(|a| Obj::Bool(a.is_loopback()))
    }),
    ("network.is_private", |_, _, args| {
        let [address] = args.bind("network.is_private", ["ip_addr"])?;
        address_of(&required(address, "network.is_private", "ip_addr")?)
            .map(|a| Obj::Bool(a.is_private()))
    }),
    ("network.reverse_ip", |_, _, args| {
        let [address] = args.bind("network.reverse_ip", ["ip_addr"])?;
        let address = address_of(&required(address, "network.reverse_ip", "ip_addr")?)?;
        let bits = address.bits();
        Ok(Obj::from(if address.version() == 4 {
            let bytes = (0..4)
                .map(|i| (bits >> (8 * i) & 0xff).to_string())
                .collect::<Vec<_>>();
            format!("{}.in-addr.arpa", bytes.join("."))
        } else {
            let digits = (0..32)
                .map(|i| format!("{:x}", bits >> (4 * i) & 0xf))
                .collect::<Vec<_>>();
            format!("{}.ip6.arpa", digits.join("."))
        }))
    }),
];

/// One version of IP, and the grains with its addresses.
struct Version {
    number: u8,
    by_interface: &'static str,
    all: &'static str,
}

const V4: Version = Version {
    number: 4,
    by_interface: "ip4_interfaces",
    all: "ipv4",
};
const V6: Version = Version {
    number: 6,
    by_interface: "ip6_interfaces",
    all: "ipv6",
};

fn address_of(x: &Obj) -> Result<Address> {
    match Address::of(x) {
        Some(address) => Ok(address),
        None => Err(Error::value_error(format!(
            "{} does not appear to be an IPv4 or IPv6 address",
            repr(x)?
        ))),
    }
}

fn calc_net(address: &Obj, mask: Option<Obj>) -> Result<Network> {
    match mask.filter(|mask| !mask.is_none()) {
        Some(mask) => Network::parse(&format!("{}/{}", to_str(address)?, to_str(&mask)?), false),
        None => Network::of(address, false),
    }
}

/// A network to be in; `None`, with a warning, for what is not a network.
fn subnet(run: &dyn Context, cidr: &Obj) -> Result<Option<Network>> {
    match Network::of(cidr, true) {
        Ok(network) => Ok(Some(network)),
        Err(e) => {
            run.warn(Diagnostic::warning(
                Kind::Lookup,
                format!("Invalid CIDR '{}': {}", to_str(cidr)?, e.message),
            ));
            Ok(None)
        }
    }
}

/// The grain that has something for each interface.
fn interfaces(run: &dyn Context, function: &str, grain: &str) -> Result<Map> {
    match run.grain(grain) {
        Some(Value::Map(known)) => Ok(known),
        _ => Err(super::refused(format!(
            "{function}() needs the grain {grain}, which is missing"
        ))
        .with_help("take the grains from the minion itself: salt-call --local grains.items")),
    }
}

/// The minion's addresses, sorted, each once.
fn own_addresses(
    run: &dyn Context,
    function: &str,
    version: &Version,
    interface: Option<&Obj>,
    loopback: bool,
) -> Result<Vec<Address>> {
    let all = run.grain(version.all);
    let has_interfaces = run.has_grain(version.by_interface);
    let texts: Vec<Value> = match (interface, all) {
        (None, Some(Value::List(all))) if !has_interfaces => all.to_vec(),
        (interface, _) => {
            let known = interfaces(run, function, version.by_interface)?;
            let wanted = interface.map(patterns).transpose()?;
            let wanted: Option<Vec<Fnmatch>> =
                wanted.map(|texts| texts.iter().map(|text| Fnmatch::new(text)).collect());
            let is_wanted = |name: &str| {
                wanted
                    .as_ref()
                    .is_none_or(|all| all.iter().any(|one| one.matches(name)))
            };
            let chosen = known
                .iter()
                .filter(|(name, _)| is_wanted(&name.to_string()));
            chosen
                .flat_map(|(_, addresses)| addresses.as_list().unwrap_or_default().to_vec())
                .collect()
        }
    };
    let mut found = Vec::new();
    for text in texts {
        let address = address_of(&Obj::from(text))?;
        if address.version() == version.number && (loopback || !address.is_loopback()) {
            found.push(address);
        }
    }
    found.sort_by_key(Address::bits);
    found.dedup();
    Ok(found)
}

/// The names of interfaces in a list or in a text with commas.
fn patterns(interface: &Obj) -> Result<Vec<String>> {
    match interface {
        Obj::List(items) => items.items().iter().map(to_str).collect(),
        one => Ok(to_str(one)?
            .split(',')
            .map(|name| name.trim().to_string())
            .collect()),
    }
}

fn ip_addrs(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let names = ["interface", "include_loopback", "cidr", "type"];
    let [interface, loopback, cidr, kind] = args.bind("network.ip_addrs", names)?;
    let interface = interface.filter(|interface| !interface.is_none());
    let mut found = own_addresses(
        run,
        "network.ip_addrs",
        &V4,
        interface.as_ref(),
        truth_or(loopback, false)?,
    )?;
    if truth_or(cidr.clone(), false)? {
        retain_within(run, &mut found, &cidr.unwrap_or_default())?;
    } else if let Some(kind) =
        kind.filter(|kind| kind.as_str().is_some() || matches!(kind, Obj::Undefined(_)))
    {
        match &*text(&kind, "network.ip_addrs", "type")? {
            "public" => found.retain(|address| !address.is_private()),
            "private" => found.retain(Address::is_private),
            _ => {}
        }
    }
    Ok(listed(&found))
}

fn ip_addrs6(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [interface, loopback, cidr] = args.bind(
        "network.ip_addrs6",
        ["interface", "include_loopback", "cidr"],
    )?;
    let interface = interface.filter(|interface| !interface.is_none());
    let mut found = own_addresses(
        run,
        "network.ip_addrs6",
        &V6,
        interface.as_ref(),
        truth_or(loopback, false)?,
    )?;
    if truth_or(cidr.clone(), false)? {
        retain_within(run, &mut found, &cidr.unwrap_or_default())?;
    }
    Ok(listed(&found))
}

fn retain_within(run: &dyn Context, found: &mut Vec<Address>, cidr: &Obj) -> Result<()> {
    let network = subnet(run, cidr)?;
    found.retain(|address| {
        network
            .as_ref()
            .is_some_and(|network| network.contains(address))
    });
    Ok(())
}

fn listed(addresses: &[Address]) -> Obj {
    Obj::list(
        addresses
            .iter()
            .map(|address| Obj::from(address.text()))
            .collect::<Vec<_>>(),
    )
}

fn hw_addr(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [interface] = args.bind("network.hw_addr", ["iface"])?;
    let interface = to_str(&required(interface, "network.hw_addr", "iface")?)?;
    let hardware = interfaces(run, "network.hw_addr", "hwaddr_interfaces")?;
    if let Some(address) = hardware.get(&*interface) {
        return Ok(Obj::from(address.clone()));
    }
    // An interface can be without an address.
    let known = interfaces(run, "network.hw_addr", "ip_interfaces").unwrap_or(hardware);
    Ok(if known.contains_key(&*interface) {
        Obj::from("")
    } else {
        unknown_interface(run, &interface, &known)
    })
}

/// The reference returns what is wrong as if it were the answer.
fn unknown_interface(run: &dyn Context, interface: &str, known: &Map) -> Obj {
    let names: Vec<String> = known.keys().map(ToString::to_string).collect();
    let message = format!(
        "Interface \"{interface}\" not in available interfaces: \"{}\"",
        names.join("\", \"")
    );
    run.warn(Diagnostic::warning(Kind::Lookup, message.clone()));
    Obj::from(message)
}
