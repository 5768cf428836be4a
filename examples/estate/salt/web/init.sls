{% from 'web/map.jinja' import web with context %}

include:
  - users

{{ web.pkg }}:
  pkg.installed: []
  service.running:
    - enable: True

/etc/nginx/sites-enabled/default:
  file.managed:
    - source: salt://web/files/site.conf
    - template: jinja
    - context:
        port: {{ web.prot }}
