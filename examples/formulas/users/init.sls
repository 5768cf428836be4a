{#- Groups first, then accounts: an account needs its groups. #}
{%- from tpldir ~ "/map.jinja" import users with context %}

users-packages:
  pkg.installed:
    - pkgs: {{ users.packages | json }}

{%- for name in users.all_groups %}
users-group-{{ name }}:
  group.present:
    - name: {{ name | json }}
{%- endfor %}

{%- for name, account in users.accounts | dictsort %}
users-account-{{ name }}:
  user.present:
    - name: {{ name | json }}
    - home: {{ account.home | json }}
    - shell: {{ account.shell | json }}
    - groups: {{ account.get('groups', []) | json }}
{%- endfor %}

{%- for name in users.absent_accounts %}
users-account-{{ name }}:
  user.absent:
    - name: {{ name | json }}
{%- endfor %}

users-sudoers:
  file.managed:
    - name: {{ users.sudo.dir }}/10-admins
    - source: {{ salt['map.tofs'](tpldir, ['etc/sudoers.d/10-admins.jinja'], config=users) | json }}
    - mode: '0440'
    - template: jinja
    - check_cmd: {{ users.sudo.visudo }} -c -f
    - context:
        sudo: {{ users.sudo | json }}
