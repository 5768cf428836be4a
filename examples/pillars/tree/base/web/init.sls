include:
  - common
  - .vhosts:
      key: web
      defaults:
        domain: example.org
packages: [apache2]
