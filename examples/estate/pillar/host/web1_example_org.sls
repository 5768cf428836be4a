web:
  port: 8080
grains:
  roles: [web]
