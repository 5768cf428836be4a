base:
  '*':
    - common
  'frontends':
    - match: nodegroup
    - web
  'G@os_family:RedHat':
    - redhat
dev:
  'web1*':
    - trial
