base:
  '*':
    - common
    - host.{{ grains['id'] | replace('.', '_') }}
  'G@roles:db':
    - secrets.db
