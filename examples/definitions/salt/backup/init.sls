{%- set tplroot = tpldir.split("/")[0] %}
{%- from tplroot ~ "/map.jinja" import mapdata as backup with context %}

backup-package:
  pkg.installed:
    - name: {{ backup.package }}
    - version: {{ backup.version | json }}

backup-job:
  file.managed:
    - name: {{ backup.cron }}
    - source: {{ salt["map.tofs"](tpldir, ["job.jinja"], config=backup) | json }}
    - template: jinja
    - context:
        backup: {{ backup | json }}
