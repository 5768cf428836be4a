/etc/motd:
  file.managed:
    - contents: {{ pillar.motd | yaml_dquote }}
