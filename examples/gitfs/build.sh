#!/bin/sh
# A master that serves its own files first and two formulas out of git last, each pinned to a tag.
#
#     sh examples/gitfs/build.sh DIRECTORY
#
# makes the repositories, the master's files and configuration, and four minions below DIRECTORY, which
# must not exist. Remove it when done.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 DIRECTORY" >&2; exit 2; }
mkdir "$1"
top=$(cd "$1" && pwd)

put() { # PATH: a file with what is on standard input
    mkdir -p "$(dirname "$1")"
    cat > "$1"
}

repository() { # NAME: an empty repository that does not depend on the user's configuration
    git init --quiet --initial-branch=master "$top/git/$1"
    cd "$top/git/$1"
    git config user.name example
    git config user.email example@example.org
    git config commit.gpgsign false
    git config tag.gpgsign false
}

release() { # TAG
    git add --all
    git commit --quiet --message "$1"
    git tag "$1"
}

# Two formulas. What comes after the pinned tags must not be served.
repository template-formula
put TEMPLATE/parameters/defaults.yaml <<'EOF'
values:
  pkg: {name: template}
  config: /etc/template-formula
  service: {name: template, enable: false}
EOF
put TEMPLATE/parameters/os_family/Debian.yaml <<'EOF'
values:
  config: /etc/template.d/custom.conf
EOF
put TEMPLATE/parameters/os_family/RedHat.yaml <<'EOF'
values:
  pkg: {name: template-redhat}
EOF
put TEMPLATE/post-map.jinja <<'EOF'
{%- do mapdata.service.update({"reload": mapdata.config}) %}
EOF
release v4.1.1
put TEMPLATE/parameters/defaults.yaml <<'EOF'
values: {config: /of/a/later/release}
EOF
release v4.2.0

repository openssh-formula
put openssh/parameters/defaults.yaml <<'EOF'
values:
  server: openssh-server
  sshd_config: {Port: 22}
EOF
release v2.0.1
put openssh/parameters/defaults.yaml <<'EOF'
values: {sshd_config: {Port: 2222}}
EOF
release v3.0.0

# The master's own files: parameters for DNS domains and for roles, for all formulas and for one.
cd "$top"
put srv/salt/parameters/map_jinja.yaml <<'EOF'
values:
  sources:
    - Y!G@osarch
    - Y!G@os_family
    - Y!G@os
    - Y!G@osfinger
    - C@{{ tplroot ~ ':lookup' }}
    - C@{{ tplroot }}
    # Roles switch things on; what they then look like depends on where the minion is.
    - Y!C@roles
    - Y!G@dns:domain
    - Y!G@domain
    - Y!G@id
EOF
put "srv/salt/TEMPLATE/parameters/dns:domain/example.net.yaml" <<'EOF'
values:
  config: /etc/template-formula-example-net.conf
EOF
put "srv/salt/TEMPLATE/parameters/dns:domain/example.com.yaml.jinja" <<'EOF'
values:
  config: /etc/template-formula-{{ grains['os_family'] }}.conf
EOF
ln -s dns:domain srv/salt/TEMPLATE/parameters/domain
put srv/salt/TEMPLATE/parameters/roles/TEMPLATE/server.yaml <<'EOF'
values:
  config: /etc/template-formula-server.conf
  service: {enable: true}
EOF
put srv/salt/TEMPLATE/parameters/roles/TEMPLATE/client.yaml <<'EOF'
values:
  config: /etc/template-formula-client.conf
EOF

# The same where a colon cannot be part of a name, as on Windows.
mkdir -p windows
cp -R srv/salt windows/salt
rm windows/salt/TEMPLATE/parameters/domain
mv "windows/salt/TEMPLATE/parameters/dns:domain" 'windows/salt/TEMPLATE/parameters/dns!domain'
sed 's/G@dns:domain/G:!@dns!domain/' srv/salt/parameters/map_jinja.yaml > windows/salt/parameters/map_jinja.yaml

for configuration in salt windows; do
    roots="$top/srv/salt"
    [ $configuration = salt ] || roots="$top/windows/salt"
    put etc/$configuration/master <<EOF
# The defaults of Salt, and what master.d adds.
cachedir: $top/cache
EOF
    put etc/$configuration/master.d/fileserver.conf <<EOF
fileserver_backend:
  # parameters, and what replaces parts of formulas
  - roots
  # formulas
  - gitfs
file_roots:
  base:
    - $roots
gitfs_remotes:
  - file://$top/git/template-formula:
    - base: v4.1.1
  - file://$top/git/openssh-formula:
    - base: v2.0.1
EOF
done

minion() { # ID OS_FAMILY OS DNS_DOMAIN ROLES
    put "minions/$1.yaml" <<EOF
id: $1
grains:
  osarch: amd64
  os_family: $2
  os: $3
  osfinger: $3-1
  domain: ${1#*.}
  dns: {domain: $4}
  roles: [$5]
EOF
}
minion server-1.example.net Debian Ubuntu example.net TEMPLATE/server
minion client-1.example.com RedHat Rocky example.com TEMPLATE/client
minion client-2.example.org Debian Debian lan.example TEMPLATE/client
minion other.example.com Debian Debian lan.example ''
