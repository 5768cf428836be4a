{%- from tpldir ~ '/map.jinja' import timesync with context %}

timesync-package:
  pkg.installed:
    - name: {{ timesync.package }}

timesync-config:
  file.managed:
    - name: {{ timesync.config }}
    - source: salt://{{ tpldir }}/files/chrony.conf.jinja
    - template: jinja
    - context:
        timesync: {{ timesync | json }}
    - require:
      - pkg: timesync-package

timesync-service:
  service.running:
    - name: {{ timesync.service }}
    - enable: true
    - watch:
      - file: timesync-config
