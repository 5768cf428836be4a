//! An estate is found in a checkout, and verbs need no flags in it.

use crate::common::{Tree, run};

#[test]
fn a_hostile_checkout_reads_nothing_outside() {
    let outside = Tree::new(&[
        ("secret.sls", "stolen: yes"),
        ("conf", "id: stolen"),
        ("stack.cfg", "secret.sls"),
    ]);
    let at = outside.path().display();
    let template = format!(
        "{{% include '{at}/secret.sls' %}}\n{{{{ salt['cp.get_file_str']('{at}/secret.sls') }}}}\n"
    );
    let imports = format!("{{% import_yaml '{at}/secret.sls' as s %}}\ns: {{{{ s }}}}\n");
    let master = format!(
        "include: {at}/conf\nfile_roots: {{base: [{at}]}}\npillar_roots: {{base: [{at}, ..{at}]}}\next_pillar:\n\
         - stack: {at}/stack.cfg\n- file_tree: {{root_dir: {at}}}\n- cmd_yaml: cat {at}/secret.sls\n"
    );
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {'*': [a]}"),
        ("salt/a.sls", &*template),
        ("pillar/top.sls", "base: {'*': [a]}"),
        ("pillar/a.sls", &*imports),
        ("master", &*master),
    ]);
    for line in [
        "pillar web1",
        "lint",
        "fleet",
        "explain",
        "minions",
        "init --print",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let ran = run(tree.path(), &args);
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!shown.contains("stolen"), "{line}: {shown}");
    }
}
