postgresql:
  pkg.installed: []
