//! Functions that templates of a pillar cannot ask: what a master says of itself, and what compiles the pillar again.

use mapstack_pyobject::{CallArgs, Obj};

/// Why a call has no answer in templates of a pillar; `None` if it has one.
///
/// `is_on_minion` says that the minion has no master, and compiles its pillar itself.
///
/// ```
/// use mapstack_functions::why_not_in_pillar;
/// let why = why_not_in_pillar("network.ip_addrs", false).unwrap();
/// assert_eq!(why, "in a pillar, it answers about the master and not about the minion");
/// assert!(why_not_in_pillar("network.ip_addrs", true).is_none());
/// assert!(why_not_in_pillar("network.calc_net", false).is_none());
/// ```
#[must_use]
pub fn why_not_in_pillar(name: &str, is_on_minion: bool) -> Option<&'static str> {
    Some(match name {
        "network.hw_addr"
        | "network.hwaddr"
        | "network.in_subnet"
        | "network.interface_ip"
        | IN_SUBNET
        | "network.ip_addrs"
        | "network.ip_addrs6"
        | "network.ipaddrs"
        | "network.ipaddrs6"
            if !is_on_minion =>
        {
            "in a pillar, it answers about the master and not about the minion"
        }
        "saltutil.list_extmods" if !is_on_minion => {
            "in a pillar, it lists what was synced to the master"
        }
        "pillar.data" | "pillar.items" | "pillar.ls" | "pillar.obfuscate" => {
            "in a pillar, it compiles that pillar again, and so on without an end"
        }
        "state.sls_exists" => {
            "in a pillar, it compiles states, for which it compiles that pillar again"
        }
        _ => return None,
    })
}

/// Looks at the addresses of the machine only if it is given none.
const IN_SUBNET: &str = "network.ip_in_subnet";

/// True if a call is about what it is given alone, although its function can look at the machine.
pub fn is_given_all(name: &str, args: &CallArgs) -> bool {
    let by_name = || args.named.iter().find(|(name, _)| **name == *"ip_addr");
    let address = args.positional.first();
    let address = address.or_else(|| by_name().map(|(_, address)| address));
    name == IN_SUBNET && !address.is_some_and(Obj::is_none)
}
