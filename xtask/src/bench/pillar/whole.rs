//! A generated master: a pillar with targets of every kind, stacked external pillars, and its minions.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use xshell::Shell;

use crate::Result;
use crate::bench::measure::layer_text;

const ROLES: [&str; 10] = [
    "web", "db", "cache", "queue", "proxy", "mail", "ci", "log", "dns", "app",
];
const ENVS: [&str; 4] = ["prod", "stage", "test", "dev"];
const SITES: [&str; 6] = ["ams", "ber", "cdg", "dub", "fra", "lon"];
const SYSTEMS: [(&str, &str); 5] = [
    ("Debian", "Debian"),
    ("Ubuntu", "Debian"),
    ("Rocky", "RedHat"),
    ("SLES", "Suse"),
    ("Arch", "Arch"),
];

/// Write the master's configuration and the minions' documents. Returns the paths of both.
pub fn generate(sh: &Shell, home: &Path, minions: usize) -> Result<(PathBuf, PathBuf)> {
    let roots = home.join("pillar");
    let names = sls(sh, &roots)?;
    sh.write_file(roots.join("top.sls"), top(&names))?;
    let stacks = (0..3).map(|number| stack(sh, home, number));
    let stacks = stacks.collect::<Result<Vec<_>>>()?;
    let mut config = format!("pillar_roots:\n  base: [{}]\n", roots.display());
    config += "nodegroups:\n  edge: 'web* or proxy*'\n  stores: 'G@role:db or G@role:cache'\n";
    config += "ext_pillar:\n";
    for stack in stacks {
        writeln!(config, "  - stack: {}", stack.display())?;
    }
    let path = home.join("master");
    sh.write_file(&path, config)?;
    let folder = home.join("minions");
    sh.create_dir(&folder)?;
    for number in 0..minions {
        let (id, text) = minion(number);
        sh.write_file(folder.join(id + ".yaml"), text)?;
    }
    Ok((path, folder))
}

/// Sixty sls: a third plain, most of the others with grains that many minions have, some with the minion's name.
/// Returns their names.
fn sls(sh: &Shell, roots: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for number in 0..60 {
        let name = format!("part{number}");
        let mut text = String::new();
        if number % 12 == 1 {
            writeln!(text, "include: [part{}, part{}]", number + 1, number + 3)?;
        }
        text += &plain(number);
        text += match number % 6 {
            0 | 3 => "",
            1 => TEMPLATES[0],
            2 => TEMPLATES[1],
            4 => TEMPLATES[2],
            _ if number % 18 == 5 => TEMPLATES[4],
            _ => TEMPLATES[3],
        };
        sh.write_file(roots.join(format!("{name}.sls")), text)?;
        names.push(name);
    }
    Ok(names)
}

fn plain(number: usize) -> String {
    let mut text = format!(
        "part{number}:\n  enabled: true\n  port: {}\n",
        8000 + number
    );
    for key in 0..6 {
        text += &format!("  setting{key}: value {key} of part {number}\n");
    }
    text += &format!("packages:\n  part{number}: [package-{number}, common]\n");
    text + &format!(
        "shared:\n  last: part{number}\n  key{}: {number}\n",
        number % 7
    )
}

const TEMPLATES: [&str; 5] = [
    "system:\n  family: {{ grains['os_family'] }}\n{% if grains['os_family'] == 'Debian' %}\n  manager: apt\n{% else %}\n  manager: other\n{% endif %}\n",
    "site:\n  name: {{ grains.site }}\n{% for number in range(3) %}\n  server{{ number }}: ns{{ number }}.{{ grains.site }}.example\n{% endfor %}\n",
    "stage:\n  name: {{ salt['grains.get']('env', 'dev') }}\n  debug: {{ grains.env in ['test', 'dev'] }}\n  workers: {{ grains.num_cpus * 2 }}\n",
    "{% set size = {'prod': 8, 'stage': 4}.get(grains.env, 1) %}\nscale:\n  role: {{ grains['role'] }}\n  size: {{ size }}\n",
    "host:\n  name: {{ grains['id'] }}\n  address: {{ grains['fqdn_ip4'][0] }}\n",
];

/// Forty targets with two sls each, and `*` with six.
fn top(names: &[String]) -> String {
    let mut targets = vec![("'*'".to_owned(), "")];
    targets.extend(ROLES.iter().map(|role| (format!("'{role}*'"), "")));
    targets.extend(ENVS.iter().map(|env| (format!("'*.{env}.example'"), "")));
    targets.extend(SITES.iter().map(|site| (format!("'site:{site}'"), "grain")));
    targets.extend(
        SYSTEMS
            .iter()
            .map(|(os, _)| (format!("'G@os:{os}'"), "compound")),
    );
    for family in ["Debian", "RedHat", "Suse"] {
        targets.push((format!("'os_family:{family}'"), "grain"));
    }
    for (role, env) in ROLES.iter().zip(ENVS.iter().cycle()).take(6) {
        targets.push((format!("'G@role:{role} and G@env:{env}'"), "compound"));
    }
    for (expression, kind) in [
        ("'(web|app)[0-9]+-.*'", "pcre"),
        ("'.*-(ams|fra)[.].*'", "pcre"),
        ("'env:(prod|stage)'", "grain_pcre"),
        ("edge", "nodegroup"),
        ("stores", "nodegroup"),
        ("'web1-ber.prod.example,db2-cdg.stage.example'", "list"),
    ] {
        targets.push((expression.to_owned(), kind));
    }
    let mut text = "base:\n".to_owned();
    let mut numbers = (0..names.len()).cycle();
    for (target, kind) in targets {
        text += &format!("  {target}:\n");
        if !kind.is_empty() {
            text += &format!("    - match: {kind}\n");
        }
        let count = if target == "'*'" { 6 } else { 2 };
        for name in numbers.by_ref().take(count).map(|number| &names[number]) {
            text += &format!("    - {name}\n");
        }
    }
    text
}

/// A stack of some plain files, one chosen by a grain, and one with the minion's name in it.
fn stack(sh: &Shell, home: &Path, number: usize) -> Result<PathBuf> {
    let directory = home.join(format!("stack{number}"));
    let list = "common/*.yml\nos/{{ __grains__['os'] }}.yml\nsite/{{ __grains__['site'] }}.yml\nminion.yml\n";
    for layer in 0..3 {
        let text = layer_text(10 * number + layer, "");
        sh.write_file(directory.join(format!("common/{layer}.yml")), text)?;
    }
    for (at, (os, _)) in SYSTEMS.iter().enumerate() {
        sh.write_file(
            directory.join(format!("os/{os}.yml")),
            format!("stack{number}:\n  os: {os}\n  order: {at}\n"),
        )?;
    }
    for site in SITES {
        sh.write_file(
            directory.join(format!("site/{site}.yml")),
            format!("stack{number}:\n  site: {{{{ __grains__['site'] }}}}\n"),
        )?;
    }
    let own = format!("stack{number}:\n  minion: {{{{ minion_id }}}}\n");
    sh.write_file(directory.join("minion.yml"), own)?;
    let config = directory.join("stack.cfg");
    sh.write_file(&config, list)?;
    Ok(config)
}

/// A minion's id and its document.
fn minion(number: usize) -> (String, String) {
    let role = ROLES[number % ROLES.len()];
    let site = SITES[number / 10 % SITES.len()];
    let env = ENVS[number / 60 % ENVS.len()];
    let (os, family) = SYSTEMS[number / 7 % SYSTEMS.len()];
    let id = format!("{role}{number}-{site}.{env}.example");
    let address = format!("10.{}.{}.{}", number >> 16, number >> 8 & 255, number & 255);
    let mut text = format!("id: {id}\ngrains:\n  id: {id}\n  host: {role}{number}\n  fqdn: {id}\n");
    text += &format!("  os: {os}\n  os_family: {family}\n  kernel: Linux\n  osarch: amd64\n");
    text += &format!("  site: {site}\n  env: {env}\n  role: {role}\n");
    text += &format!(
        "  num_cpus: {}\n  mem_total: {}\n",
        1 << (number % 5),
        1024 << (number % 4)
    );
    text += &format!("  fqdn_ip4: [{address}]\n  ipv4: [127.0.0.1, {address}]\n");
    text += &format!("  ip_interfaces: {{lo: [127.0.0.1], eth0: [{address}]}}\n");
    for extra in 0..30 {
        text += &format!("  grain{extra}: value {}\n", extra * number % 97);
    }
    (id, text)
}
