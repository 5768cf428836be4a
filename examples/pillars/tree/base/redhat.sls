packages: [dnf-plugins-core]
