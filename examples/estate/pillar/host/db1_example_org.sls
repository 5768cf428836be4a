grains:
  roles: [db]
