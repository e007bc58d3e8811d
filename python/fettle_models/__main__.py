from fettle_models.serve import main

main()
