from fettle_plugins.serve import main

main()
