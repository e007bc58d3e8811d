module fettle/bench/peers

go 1.24.0

require (
	github.com/ghodss/yaml v1.0.0
	github.com/itchyny/gojq v0.12.19
	go.starlark.net v0.0.0-20230224151120-c52844e64a10
	gopkg.in/yaml.v2 v2.4.0
)

require (
	github.com/itchyny/timefmt-go v0.1.8 // indirect
	golang.org/x/sys v0.38.0 // indirect
)
