packages: [curl]
motd: this is {{ grains.id }}, for {{ opts.id }}
