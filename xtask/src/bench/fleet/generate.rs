//! A made-up fleet: minions with the grains that Salt computes, and formulas in the form of public ones.
//!
//! The job of a minion decides its system, its size and its owner, as in fleets that are installed by
//! machines: there are sixty kinds of minions. Each has private facts, too: names, addresses, serial numbers. One
//! formula in ten prints such a fact, so that its result is different for every minion.

use std::path::Path;

use serde_json::{Value, json};
use xshell::Shell;

use crate::Result;

/// Family, name, version and number of the systems that minions run.
const SYSTEMS: [(&str, &str, &str, &str); 8] = [
    ("Debian", "Debian", "12", "bookworm"),
    ("Debian", "Debian", "11", "bullseye"),
    ("Debian", "Ubuntu", "24.04", "noble"),
    ("Debian", "Ubuntu", "22.04", "jammy"),
    ("RedHat", "Rocky", "9", "Blue Onyx"),
    ("RedHat", "AlmaLinux", "8", "Sapphire"),
    ("Suse", "SLES", "15", "SLES 15"),
    ("Arch", "Arch", "rolling", "rolling"),
];
const ROLES: [&str; 10] = [
    "web", "db", "cache", "queue", "proxy", "build", "mail", "dns", "backup", "monitor",
];
const ENVIRONMENTS: [&str; 3] = ["production", "staging", "testing"];

/// Numbers that look random and are the same every time.
pub fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn pick<T: Copy>(from: &[T], seed: u64) -> T {
    from[usize::try_from(seed % from.len() as u64).unwrap_or_default()]
}

/// The name of a minion, sorted as its number is.
pub fn id(number: u64) -> String {
    format!(
        "{}{number:06}.{}.example.org",
        pick(&ROLES, mixed(number)),
        pick(&["ams", "fra", "lon"], mixed(number * 3))
    )
}

/// A minion as a document.
pub fn minion(number: u64) -> Value {
    let kind = mixed(number) % ROLES.len() as u64;
    let role = pick(&ROLES, kind);
    let (family, os, release, codename) = pick(&SYSTEMS, kind + mixed(number * 7 + 1) % 2);
    let environment = pick(&ENVIRONMENTS, mixed(number * 5 + 2));
    let (id, unique) = (id(number), mixed(number * 11));
    let host = id.split('.').next().unwrap_or_default();
    let address = format!(
        "10.{}.{}.{}",
        number >> 16 & 255,
        number >> 8 & 255,
        number & 255
    );
    let cpus = pick(&[2_u64, 4, 8, 16, 32], kind);
    let major = release.split('.').next().unwrap_or_default();
    let interfaces = json!({"lo": ["127.0.0.1", "::1"], "eth0": [address, format!("fe80::{:x}", unique & 0xffff)]});
    let system = json!({"id": id, "host": host, "localhost": host, "nodename": host, "fqdn": id, "domain": &id[host.len() + 1..],
            "os": os, "os_family": family, "osrelease": release, "osmajorrelease": major, "oscodename": codename,
            "osfullname": os, "osfinger": format!("{os}-{major}"), "osarch": if family == "Debian" { "amd64" } else { "x86_64" },
            "osrelease_info": [major], "kernel": "Linux", "kernelrelease": format!("6.{}.0-{}", unique % 12, unique % 97),
            "kernelversion": format!("#{} SMP", unique % 50)});
    let hardware = json!({"cpuarch": "x86_64", "num_cpus": cpus, "num_gpus": 0,
            "cpu_model": pick(&["EPYC 7763", "Xeon 8380", "Xeon 6338"], unique), "cpu_flags": ["fpu", "vme", "de", "pse", "tsc", "msr", "sse4_2", "avx2"],
            "mem_total": cpus * 4000 + unique % 500, "swap_total": 0, "virtual": pick(&["kvm", "physical", "VMware"], kind),
            "ip_interfaces": interfaces, "ip4_interfaces": {"lo": ["127.0.0.1"], "eth0": [address]}, "ipv4": ["127.0.0.1", address],
            "ipv6": ["::1"], "fqdn_ip4": [address], "dns": {"nameservers": ["10.0.0.2", "10.0.0.3"], "search": ["example.org"]},
            "hwaddr_interfaces": {"lo": "00:00:00:00:00:00", "eth0": format!("52:54:00:{:02x}:{:02x}:{:02x}", number >> 16 & 255, number >> 8 & 255, number & 255)}});
    let others = json!({"machine_id": format!("{unique:016x}{:016x}", mixed(unique)), "uuid": format!("{:032x}", u128::from(unique)),
            "serialnumber": format!("SN{unique:016}"), "manufacturer": "QEMU", "productname": "Standard PC", "biosversion": "1.16",
            "init": "systemd", "systemd": {"version": "252", "features": "+PAM +AUDIT"}, "locale_info": {"defaultlanguage": "en_US", "defaultencoding": "UTF-8"},
            "path": "/usr/local/sbin:/usr/sbin:/usr/bin", "shell": "/bin/sh", "ps": "ps -efHww", "pid": unique % 32768, "pythonversion": [3, 11, 2, "final", 0],
            "saltversion": "3008.3", "saltversioninfo": [3008, 3], "master": "salt", "server_id": unique % 2_147_483_647, "zmqversion": "4.3.4",
            "disks": ["sda", "sdb"], "ssds": ["sda"], "selinux": {"enabled": family == "RedHat", "enforced": "Permissive"}, "transactional": false,
            "roles": [role], "environment": environment, "datacenter": id.split('.').nth(1)});
    let parts = [system, hardware, others];
    let grains: serde_json::Map<String, Value> = parts
        .into_iter()
        .filter_map(|part| part.as_object().cloned())
        .flatten()
        .collect();
    json!({
        "id": id,
        "grains": grains,
        "pillar": {
            "environment": environment,
            "owner": pick(&["team-a", "team-b", "team-c", "team-d"], kind),
            "asset": format!("A-{unique:016}"),
            "formula1": {"server": {"workers": cpus}, "environment": environment},
            "formula3": {"extra": {"role": role}},
        },
    })
}

fn defaults(number: u64) -> String {
    let mut defaults = String::from("values:\n");
    for key in 0..12 {
        defaults += &format!("  key{key}: value {key} of formula {number}\n");
    }
    defaults += "  server:\n    port: 8080\n    workers: 2\n    listen: [127.0.0.1, '::1']\n    tls: {enabled: true, min: '1.2', ciphers: [a, b, c]}\n";
    defaults += "  packages: [base, common]\n  service: {name: base, enabled: true}\n";
    if number % 3 == 1 {
        defaults += "  memory: {{ grains['num_cpus'] * 512 }}\n  kind: {{ 'bare' if grains.virtual == 'physical' else 'guest' }}\n";
        defaults += "  owner: {{ salt['pillar.get']('owner', 'nobody') }}\n";
    }
    if number % 10 == 4 {
        defaults += "  name: {{ grains.fqdn }}\n";
    }
    defaults
}

/// One of the formulas: its defaults, a layer for every family, system, version, role and environment; every third has
/// templates, every fourth a post-map template, and one in ten prints the minion's own name.
pub fn formula(sh: &Shell, root: &Path, number: u64) -> Result {
    let parameters = root.join(format!("formula{number}/parameters"));
    let write = |path: &str, text: String| sh.write_file(parameters.join(path), text);
    write("defaults.yaml", defaults(number))?;
    // Without this file the sources are those that every formula has.
    if let Some(source) = ["", "Y!G@roles", "Y!I@environment"]
        .get(number as usize % 3)
        .filter(|source| !source.is_empty())
    {
        let sources = "values:\n  sources:\n    - Y!G@osarch\n    - Y!G@os_family\n    - Y!G@os\n    - Y!G@osfinger\n";
        write(
            "map_jinja.yaml",
            format!("{sources}    - {source}\n    - C@formula{number}\n    - Y!G@id\n"),
        )?;
    }
    for (family, os, release, _) in SYSTEMS {
        write(
            &format!("os_family/{family}.yaml"),
            format!(
                "values:\n  packages: [{family}-package]\n  service: {{name: {family}d}}\n  server: {{user: {family}}}\n"
            ),
        )?;
        write(
            &format!("os/{os}.yaml"),
            format!("values:\n  distribution: {os}\n  server: {{group: {os}}}\n"),
        )?;
        let major = release.split('.').next().unwrap_or_default();
        write(
            &format!("osfinger/{os}-{major}.yaml"),
            format!("values:\n  release: {major}\n  paths: {{config: /etc/{os}/{major}}}\n"),
        )?;
    }
    for role in ROLES {
        let text = format!(
            "values:\n  role: {role}\n  packages: [{role}-tools]\n  server: {{port: {}}}\n",
            8000 + role.len()
        );
        write(&format!("roles/{role}.yaml"), text)?;
    }
    for environment in ENVIRONMENTS {
        write(
            &format!("environment/{environment}.yaml"),
            format!(
                "values:\n  level: {environment}\n  log: {{level: info, target: {environment}}}\n"
            ),
        )?;
    }
    // One minion in a hundred has a file.
    for minion in (0..100_000).step_by(100).take(20) {
        write(
            &format!("id/{}.yaml", id(minion)),
            "values:\n  special: true\n".into(),
        )?;
    }
    if number % 4 == 1 {
        let text = "{% if mapdata.server.workers > 4 %}{% do mapdata.server.update({'pool': mapdata.server.workers * 2}) %}{% endif %}\n";
        sh.write_file(root.join(format!("formula{number}/post-map.jinja")), text)?;
    }
    Ok(())
}
