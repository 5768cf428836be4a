backup:
  cmd.run:
    - name: pg_dumpall > {{ pillar['db']['backup'] }}/all.sql
