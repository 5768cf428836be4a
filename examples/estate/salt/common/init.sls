include:
  - .motd

ntp:
  pkg.installed:
    - name: {{ salt['grains.filter_by']({'Debian': 'ntpsec', 'RedHat': 'chrony'}) }}
