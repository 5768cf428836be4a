base:
  '*':
    - common
  'web*':
    - web
  'G@roles:db':
    - match: compound
    - db
