//! The files of tools around Salt that say where a checkout is deployed: a Saltfile, a Vagrantfile, a kitchen.yml.

use std::fs;
use std::path::{Component, Path, PathBuf};

use mapstack::value::{Map, Value};
use mapstack::yaml;

use super::folders::Folders;
use super::top_text::without_template;

/// The largest size of a tool's file.
const LONGEST: u64 = 1 << 20;

/// Facts from the files of tools, as far as they are literals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// Configurations that a Saltfile or a Vagrantfile names.
    pub configs: Vec<PathBuf>,
    /// Rosters that a Saltfile names.
    pub rosters: Vec<PathBuf>,
    /// Paths on a machine with the folders that a Vagrantfile puts there.
    pub deployed: Vec<(String, PathBuf)>,
    /// The names of a Vagrantfile's machines, each with its place.
    pub hosts: Vec<(String, String)>,
    /// The names of boxes and platforms.
    pub systems: Vec<String>,
}

impl Tools {
    /// Read the files of tools among the folders of a checkout. A file that cannot be read says nothing.
    pub fn read(directory: &Path, folders: &Folders) -> Self {
        let mut tools = Tools::default();
        for path in &folders.of_tools {
            let full = directory.join(path);
            let fits =
                fs::symlink_metadata(&full).is_ok_and(|is| is.is_file() && is.len() <= LONGEST);
            let Some(text) = fits.then(|| fs::read_to_string(&full).ok()).flatten() else {
                continue;
            };
            let folder = path.parent().unwrap_or(Path::new(""));
            match path.file_name().and_then(|name| name.to_str()) {
                Some("Saltfile") => tools.saltfile(folder, &text),
                Some("Vagrantfile") => tools.vagrantfile(path, folder, &text, folders),
                _ => tools.kitchen(&text),
            }
        }
        tools
    }

    fn saltfile(&mut self, folder: &Path, text: &str) {
        let Some(programs) = map(text) else { return };
        for options in programs.values().filter_map(Value::as_map) {
            let path = |name: &str| inside(folder, options.get(name)?.as_str()?);
            if let Some(directory) = path("config_dir") {
                push(&mut self.configs, directory.join("master"));
            }
            if let Some(roster) = path("roster_file") {
                push(&mut self.rosters, roster);
            }
        }
    }

    fn vagrantfile(&mut self, path: &Path, folder: &Path, text: &str, folders: &Folders) {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if line.starts_with('#') {
                continue;
            }
            let mut literals = literals(line).into_iter();
            if line.contains(".synced_folder ") {
                let (Some(own), Some(there)) = (literals.next(), literals.next()) else {
                    continue;
                };
                let own = inside(folder, own).filter(|own| folders.at(own).is_some());
                let there = there.trim_end_matches('/');
                if let Some(own) = own.filter(|_| there.starts_with('/')) {
                    push(&mut self.deployed, (there.to_owned(), own));
                }
                continue;
            }
            let Some((left, _)) = line.split_once('=') else {
                continue;
            };
            let (name, Some(value)) = (left.trim_end(), literals.next()) else {
                continue;
            };
            if name.ends_with(".vm.hostname") || name.ends_with(".vm.host_name") {
                let place = format!("{}:{}", path.display(), number + 1);
                push(&mut self.hosts, (value.to_owned(), place));
            } else if name.ends_with(".vm.box") {
                push(&mut self.systems, value.to_owned());
            } else if name.ends_with(".master_config") || name.ends_with(".minion_config") {
                self.configs.extend(inside(folder, value));
            }
        }
    }

    fn kitchen(&mut self, text: &str) {
        let Some(kitchen) = map(&without_template(text)) else {
            return;
        };
        let platforms = kitchen.get("platforms").and_then(Value::as_list);
        for platform in platforms.into_iter().flatten() {
            let name = platform.as_map().and_then(|own| own.get("name")?.as_str());
            if let Some(name) = name {
                push(&mut self.systems, name.to_owned());
            }
        }
    }
}

fn push<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}

fn map(text: &str) -> Option<Map> {
    yaml::load(text).ok()?.as_map().cloned()
}

/// The literals of a line of Ruby; of one that Ruby fills in, nothing is known, and the rest of the line is left.
fn literals(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = &rest[start..=start];
        let after = &rest[start + 1..];
        let Some((literal, behind)) = after.split_once(quote) else {
            break;
        };
        if literal.contains("#{") {
            break;
        }
        found.push(literal);
        rest = behind;
    }
    found
}

/// A path below the checkout. A path of another machine is the file or folder with its last name, beside the tool's own
/// file.
fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    if path.is_absolute() {
        return Some(folder.join(path.file_name()?));
    }
    let mut below = folder.to_path_buf();
    for part in path.components() {
        match part {
            Component::Normal(name) => below.push(name),
            Component::CurDir => {}
            Component::ParentDir => drop(below.pop().then_some(())?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Tools {
        let home = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Tools::read(home.path(), &Folders::below(home.path()))
    }

    #[test]
    fn a_saltfile_names_the_configuration_and_the_roster() {
        let tools = read(&[(
            "Saltfile",
            "salt-ssh:\n  config_dir: ./conf\n  roster_file: /opt/estate/roster-prod\nsalt: {config_dir: conf}\n",
        )]);
        assert_eq!(tools.configs, [PathBuf::from("conf/master")]);
        assert_eq!(tools.rosters, [PathBuf::from("roster-prod")]);
    }

    #[test]
    fn a_vagrantfile_counts_as_far_as_it_is_literal() {
        let text = "config.vm.box = \"bento/debian-12\"\n# config.vm.box = 'windows'\nconfig.vm.hostname = \"web.example.org\"\n\
                    config.vm.synced_folder 'salt/', \"/srv/salt/\"\nconfig.vm.synced_folder \"#{dir}\", '/srv/pillar'\n\
                    config.vm.synced_folder '../..', '/srv/up'\nconfig.vm.hostname = \"#{name}\"\n\
                    salt.minion_config = 'etc/minion'\nbroken = \"\n";
        let tools = read(&[("Vagrantfile", text), ("salt/top.sls", "")]);
        let expected = Tools {
            configs: vec!["etc/minion".into()],
            deployed: vec![("/srv/salt".into(), "salt".into())],
            hosts: vec![("web.example.org".into(), "Vagrantfile:3".into())],
            systems: vec!["bento/debian-12".into()],
            ..Tools::default()
        };
        assert_eq!(tools, expected);
    }

    #[test]
    fn platforms_of_a_kitchen_are_systems() {
        let text = "platforms:\n  - name: rockylinux-9\n<% if x %>\n  - name: debian-12\n";
        assert_eq!(read(&[(".kitchen.yml", text)]).systems, [""; 0]);
        let text = "platforms:\n  - name: rockylinux-9\n  - {}\n  - 3\n";
        assert_eq!(read(&[("kitchen.yml", text)]).systems, ["rockylinux-9"]);
    }
}
