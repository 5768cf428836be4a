motd: Welcome to {{ grains['id'] }}
