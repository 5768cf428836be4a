//! Calls that nothing answers, all at once.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::{Engine, UnansweredCall, stub_file};

/// The calls of an sls for some minions, as `function(arguments) minions places`.
fn lacking(engine: Engine, minions: &[&str]) -> (Engine, Vec<UnansweredCall>) {
    engine.collecting(|engine| {
        for id in minions {
            let _ = engine.run(&Minion::new(*id).complete()).sls("web.sls");
        }
    })
}

fn shown(lacking: &[UnansweredCall]) -> Vec<String> {
    let one = |one: &UnansweredCall| {
        let minions: Vec<&str> = one.minions.iter().map(|id| &**id).collect();
        let places: Vec<&str> = one.places.iter().map(String::as_str).collect();
        format!("{} {} {}", one.call, minions.join(","), places.join(","))
    };
    lacking.iter().map(one).collect()
}

#[test]
fn one_run_finds_all_of_them() {
    let sls = "\
{% if salt['file.file_exists']('/etc/x') and salt.user.info('ann').uid > 0 %}{% endif %}
a: {{ salt['cp.get_file_str']('/etc/pki/ca.crt') | json }}
b: {{ salt['mine.get']('*', 'network.ip_addrs').items() | length }}
{% for id, all in salt['mine.get']('*', 'x').items() %}
c-{{ id }}: {{ salt['vault.read_secret']('secret/' ~ grains.id) }}
{% endfor %}
{% set out = salt['cmd.run_all'](cmd='id', python_shell=True) %}
d: {{ out.stdout.split('\\n')[0] | upper }}{{ out['retcode'] }}
e: {{ 'bash' | which }}
f: {{ salt['nothing.such']() }}
g: {{ salt['cmd.run']('never reached') }}
";
    let engine = Engine::new(MemoryFiles::new().file("base", "web.sls", sls));
    let (engine, found) = lacking(engine, &["web1", "web2"]);
    assert_eq!(
        shown(&found),
        [
            "salt['file.file_exists']('/etc/x') web1,web2 web.sls:1:7",
            "salt['user.info']('ann') web1,web2 web.sls:1:46",
            "salt['cp.get_file_str']('/etc/pki/ca.crt') web1,web2 web.sls:2:7",
            "salt['mine.get']('*', 'network.ip_addrs') web1,web2 web.sls:3:7",
            "salt['mine.get']('*', 'x') web1,web2 web.sls:4:19",
            "salt['vault.read_secret']('secret/web1') web1 web.sls:5:16",
            "salt['cmd.run_all'](cmd='id', python_shell=True) web1,web2 web.sls:7:14",
            "'bash'|which web1,web2 web.sls:9:7",
            "salt['vault.read_secret']('secret/web2') web2 web.sls:5:16",
        ]
    );
    assert!(stub_file(&found).contains("# 9 calls that nothing answers"));
    // An engine that collects no more refuses as ever.
    let run = engine.run(&Minion::new("web1").complete());
    assert!(run.sls("web.sls").is_err());
}
