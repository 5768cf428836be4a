vhosts:
  - www.{{ domain }}
