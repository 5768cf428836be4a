//! Maps of tables: the files that they become.

use std::collections::BTreeMap;

use mapstack_convert::{Extent, Formula, Proposal};

fn formula(files: &[(&str, &str)]) -> Formula {
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().into()));
    Formula::new("ntp", files.collect::<BTreeMap<_, _>>())
}

/// The files of a map, or the reason for which there are none.
fn converted(map: &str, others: &[(&str, &str)]) -> String {
    let mut files = vec![("map.jinja", map)];
    files.extend(others);
    match Proposal::of(&formula(&files)) {
        Ok(proposal) => {
            let written = proposal.write.iter();
            let written = written.map(|(path, text)| format!("== {path}\n{text}"));
            written.collect()
        }
        Err(error) => format!("error: {}", error.diagnostic().message),
    }
}

fn sources(map: &str, others: &[(&str, &str)]) -> String {
    let all = converted(map, others);
    let lines = all.lines().filter_map(|line| line.strip_prefix("    - "));
    lines.collect::<Vec<_>>().join(" ")
}

#[test]
fn layers_come_in_the_order_of_merging() {
    let tables = [
        ("defaults.yaml", "ntp:\n  a: 1\n"),
        ("osmap.yaml", "Ubuntu:\n  a: 2\n"),
        ("osfamilymap.yaml", "Debian:\n  a: 3\n"),
    ];
    let imports = "{% import_yaml 'ntp/defaults.yaml' as defaults %}\
        {% import_yaml 'ntp/osmap.yaml' or {} as osmap %}{% import_yaml './osfamilymap.yaml' as osfamilymap %}";
    for (map, expected) in [
        (
            "{% set ntp = salt['grains.filter_by'](defaults, merge=salt['grains.filter_by'](osfamilymap, \
             merge=salt['grains.filter_by'](osmap, grain='os', merge=salt['pillar.get']('ntp', {}))), base='ntp') %}",
            "Y!G@os_family Y!G@os I@ntp",
        ),
        (
            "{% set config = salt['config.get']('ntp', default={}) %}\
             {% set d = salt['grains.filter_by'](defaults, default='ntp', merge=salt['grains.filter_by'](config, default='lookup')) %}\
             {% set ntp = salt['grains.filter_by']({'d': d}, default='d', merge=config) %}",
            "C@ntp:lookup C@ntp",
        ),
        (
            "{% do salt['defaults.merge'](defaults['ntp'], salt['grains.filter_by'](osfamilymap, grain='os_family') or {}) %}\
             {% do salt['defaults.merge'](defaults.ntp, salt['pillar.get']('ntp:lookup', default={})) %}\
             {% set ntp = salt['pillar.get']('ntp', default=defaults.ntp, merge=True) %}",
            "Y!G@os_family I@ntp:lookup I@ntp",
        ),
        (
            "{% set ntp = salt['slsutil.merge'](defaults.ntp, salt['grains.filter_by'](osmap, grain='os'), strategy='recurse') %}",
            "Y!G@os",
        ),
        (
            "{% set base = salt.grains.filter_by(osfamilymap) %}\
             {% set ntp = salt['grains.filter_by'](defaults, default='ntp', merge=salt['grains.filter_by'](osmap, merge=base)) %}",
            "Y!G@os_family Y!P@osfamilymap|G@os_family",
        ),
        (
            "{% load_yaml as finger %}\nDebian-12:\n  b: 4\n{% endload %}\n\
             {% set finger = salt['grains.filter_by'](finger, grain='osfinger') %}\
             {% do defaults.ntp.update(salt['grains.filter_by'](osfamilymap) or {}) %}\
             {% if finger is not none %} {% do defaults.ntp.update(finger) %} {% endif %}\
             {% set ntp = salt['pillar.get']('ntp', default=defaults['ntp'], merge=True) %}",
            "Y!G@os_family Y!G@osfinger I@ntp",
        ),
    ] {
        let map = format!("{imports}{map}");
        assert_eq!(
            sources(&map, &tables),
            expected,
            "{}",
            converted(&map, &tables)
        );
    }
}

#[test]
fn tables_in_the_map_are_written_as_yaml() {
    let map = "{% set distro = grains.get('oscodename') %}\n{% set ntp = salt['grains.filter_by']({\n\
        'default': {'pkgs': ['ntp'], 'conf': '/etc/ntp.conf'},\n\
        'FreeBSD': {'conf': '/usr/local/etc/ntp.conf', 'repo': 'deb ' ~ distro, 'service': salt['grains.filter_by']({'12': 'a',\n\
        'default': 'b'}, grain='osmajorrelease')},\n}, merge=salt['pillar.get']('ntp:lookup'), base='default') %}\n";
    let expected = "== map.jinja\n{% set ntp = salt['map.data']('ntp') %}\n\
        == parameters/defaults.yaml\n# -*- coding: utf-8 -*-\n# vim: ft=yaml\n---\nvalues:\n  pkgs:\n    - ntp\n  conf: /etc/ntp.conf\n\
        == parameters/map_jinja.yaml\n# -*- coding: utf-8 -*-\n# vim: ft=yaml\n---\nvalues:\n  sources:\n    - Y!G@os_family\n    - I@ntp:lookup\n\
        == parameters/os_family/FreeBSD.yaml\n# -*- coding: utf-8 -*-\n# vim: ft=yaml\n{% set distro = grains.get('oscodename') %}\n---\nvalues:\n  \
        conf: /usr/local/etc/ntp.conf\n  repo: {{ ('deb ' ~ distro) | json }}\n  \
        service: {{ salt['grains.filter_by']({'12': 'a', 'default': 'b'}, grain='osmajorrelease') | json }}\n";
    assert_eq!(converted(map, &[]), expected);
}

#[test]
fn what_others_import_stays_in_the_map() {
    let table = "{% set ntp = salt['grains.filter_by']({'Debian': {'a': 1}}) %}\n";
    let map = format!("{table}{{% macro line(x) %}}{{{{ x }}}}{{% endmacro %}}\n");
    let importing = (
        "init.sls",
        "{% from 'ntp/map.jinja' import ntp, line with context %}",
    );
    let all = converted(&map, &[importing]);
    assert!(
        all.contains("salt['map.data']('ntp', cache=False)") && all.contains("macro line"),
        "{all}"
    );
    assert!(!all.contains("post-map"), "{all}");

    let map = format!("{table}{{% do ntp.update({{'b': grains.os}}) %}}\n");
    let all = converted(
        &map,
        &[("init.sls", "{% from 'ntp/map.jinja' import ntp %}")],
    );
    assert!(
        all.contains("== post-map.jinja\n{% set ntp = mapdata %}\n\n{% do ntp.update"),
        "{all}"
    );
    let changing = (
        "init.sls",
        "{% from 'ntp/map.jinja' import ntp as n %}{% do n.update({'c': 1}) %}",
    );
    assert!(converted(table, &[changing]).contains("cache=False"));
}

#[test]
fn a_table_that_cannot_be_layers_stays_if_that_is_enough() {
    let map = "{% import_yaml 'ntp/osmap.yaml' as osmap %}{% import_yaml 'ntp/osfingermap.yaml' as osfingermap %}\n\
        {% set ntp = salt['grains.filter_by']({'default': {'a': 1, 'b': 2}, 'Debian': 3}, \
        merge=salt['grains.filter_by'](osmap, grain='os', merge=salt['grains.filter_by'](osfingermap, grain='osfinger', \
        default='any', merge=salt['pillar.get']('ntp')))) %}\n";
    let files = [
        ("map.jinja", map),
        ("osmap.yaml", "Ubuntu:\n  a: 4\n"),
        ("osfingermap.yaml", "{{ grains.osfinger }}:\n  c: 5\n"),
    ];
    let formula = formula(&files);
    Proposal::of(&formula).unwrap_err();
    let proposal = Proposal::to(Extent::Partial, &formula).unwrap();
    let text = |path: &str| proposal.write[path].split_once("vim: ft=yaml\n").unwrap().1;
    assert_eq!(
        text("parameters/map.yaml"),
        "{%- set table = {'default': {'a': 1, 'b': 2}, 'Debian': 3} %}\n---\n\
         values: {{ (salt[\"grains.filter_by\"](table, grain=\"os_family\") or {}) | json }}\n"
    );
    assert_eq!(
        text("parameters/osfingermap.yaml"),
        "{%- import_yaml \"ntp/osfingermap.yaml\" as table %}\n---\n\
         values: {{ (salt[\"grains.filter_by\"](table, grain=\"osfinger\", default=\"any\") or {}) | json }}\n"
    );
    assert!(
        text("parameters/map_jinja.yaml")
            .ends_with("    - Y!P@map\n    - Y!G@os\n    - Y!P@osfingermap\n    - I@ntp\n")
    );
    let removed: Vec<&str> = proposal.remove.iter().map(String::as_str).collect();
    assert_eq!(removed, ["osmap.yaml"]);
    let left: Vec<&str> = proposal.left.iter().map(|left| &*left.why).collect();
    assert_eq!(
        left,
        [
            "an entry of the table is not a mapping, so parameters/map.yaml picks from it",
            "a template computes its keys, so parameters/osfingermap.yaml picks from it",
        ]
    );
}

#[test]
fn what_is_no_layer_is_refused() {
    for (map, why) in [
        (
            "{% set ntp = salt['grains.filter_by']({'a/../../b': {'x': 1}}) %}",
            "cannot be the name of a file",
        ),
        (
            "{% set ntp = salt['grains.filter_by']({'b.yaml': {'x': 1}}) %}",
            "would look for",
        ),
        (
            "{% set ntp = salt['grains.filter_by']({'b': 1}) %}",
            "not a mapping",
        ),
        (
            "{% set ntp = salt['grains.filter_by']({'b': {'x': 1}}, grain=x) %}",
            "computes its `grain`",
        ),
        (
            "{% set a = {'x': y} %}{% set ntp = salt['grains.filter_by'](a) %}",
            "uses `y`",
        ),
        (
            "{% set ntp = salt['grains.filter_by']({'b': {'x': 1}}, merge=salt['config.get']('ntp', {}, merge='recurse')) %}",
            "it merges the value of",
        ),
        (
            "{% set ntp = salt['grains.filter_by']({'b': {'x': 1}}, *x) %}",
            "as a list",
        ),
        (
            "{% set ntp = salt['slsutil.merge']({'x': 1}, {'x': 2}, strategy='overwrite') %}",
            "merges with strategy",
        ),
    ] {
        let all = converted(map, &[]);
        assert!(
            all.starts_with("error") && all.contains(why),
            "{map}: {all}"
        );
    }
}

#[test]
fn keys_that_replaced_mappings_still_do() {
    let map = "{% set ntp = {'of': {'a': 1, 'b': 2}, 'c': 3} %}\
        {% do ntp.update(salt['grains.filter_by']({'Debian': {'of': {'a': 4}}, 'RedHat': {'c': 5}})) %}\
        {% do ntp.update(salt['pillar.get']('ntp:lookup', {})) %}";
    let all = converted(map, &[]);
    let has = |text: &str| assert!(all.contains(text), "{text}: {all}");
    has(
        "os_family/Debian.yaml\n# -*- coding: utf-8 -*-\n# vim: ft=yaml\n---\nstrategy: overwrite\nvalues:\n  of:\n    a: 4\n",
    );
    has("os_family/RedHat.yaml\n# -*- coding: utf-8 -*-\n# vim: ft=yaml\n---\nvalues:\n  c: 5\n");
    has(
        "strategy: overwrite\nvalues: {{ salt[\"pillar.get\"](\"ntp:lookup\", {}) | json(sort_keys=False) }}\n",
    );
    has("    - Y!G@os_family\n    - Y!P@lookup\n");
}

#[test]
fn a_default_of_some_systems_stays_theirs() {
    for (keys, grain, condition) in [
        (
            "'Debian'",
            "os_family",
            "grains.get(\"os_family\") not in [\"Debian\"]",
        ),
        (
            "12",
            "osmajorrelease",
            "grains.get(\"osmajorrelease\") | string not in [\"12\"]",
        ),
    ] {
        let map = format!(
            "{{% set ntp = salt['grains.filter_by']({{{keys}: {{'a': 1}}, 'default': {{'a': 2, 'b': 3}}}}, grain='{grain}') %}}"
        );
        let all = converted(&map, &[]);
        let expected = format!(
            "{{%- if {condition} %}}\nvalues:\n  a: 2\n  b: 3\n{{%- else %}}\nvalues: {{}}\n{{%- endif %}}\n"
        );
        assert!(all.contains(&expected), "{all}");
    }
}

#[test]
fn entries_of_a_pillar_in_a_table_of_systems_are_no_layers() {
    let tables = [(
        "defaults.yaml",
        "ntp-formula:\n  a: 1\nntp:\n  b: 2\nDebian:\n  b: 3\n",
    )];
    let map = "{% import_yaml 'ntp/defaults.yaml' as defaults %}\
        {% set ntp = salt['grains.filter_by'](defaults, base='ntp') %}";
    let all = converted(map, &tables);
    assert!(
        all.contains("os_family/Debian.yaml") && !all.contains("ntp-formula"),
        "{all}"
    );
}

#[test]
fn comments_of_a_map_stay_or_are_listed() {
    let map = "{# about ntp #}\n\n{# above the table #}\n{% set ntp = salt['grains.filter_by']({'Debian': {'a': 1}}) %}\n";
    let files = [("map.jinja", map)];
    let proposal = Proposal::of(&formula(&files)).unwrap();
    assert_eq!(
        proposal.write["map.jinja"],
        "{# about ntp #}\n\n{% set ntp = salt['map.data']('ntp') %}\n"
    );
    let listed = "the comment above a table of map.jinja went with it (line 3)";
    assert!(proposal.advice.iter().any(|one| one.starts_with(listed)));
}

#[test]
fn a_map_that_doubles_its_tables_is_read_to_a_limit() {
    let table = "{% set a = salt['grains.filter_by']({'Debian': {'x': 1}}) %}";
    let of = |doubled: &str| {
        let map = format!("{table}{}{{% set ntp = a %}}", doubled.repeat(60));
        converted(&map, &[])
    };
    let merged = of("{% set a = salt['slsutil.merge'](a, a) %}");
    assert!(merged.contains("more than 200 tables"), "{merged}");
    let updated = of("{% do a.update(a) %}");
    assert!(updated.len() < 20_000, "{}", updated.len());
}
