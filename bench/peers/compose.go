package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// A project as compose_main tells it: what is empty, or as it would be without a word, is left out.
type object map[string]any

func (fields object) put(key string, value any) {
	switch value := value.(type) {
	case string:
		if value == "" {
			return
		}
	case int64:
		if value == 0 {
			return
		}
	case bool:
		if !value {
			return
		}
	case []string:
		if len(value) == 0 {
			return
		}
	case []any:
		if len(value) == 0 {
			return
		}
	case object:
		if len(value) == 0 {
			return
		}
	}
	fields[key] = value
}

func texts(values map[string]string) object {
	made := object{}
	for key, value := range values {
		made[key] = value
	}
	return made
}

// A path as it stands in the files, from the folder of the project.
func near(folder, path string) string {
	if path == folder {
		return "."
	}
	if rest, ok := strings.CutPrefix(path, folder+"/"); ok {
		return "./" + rest
	}
	if inner, err := filepath.Rel(folder, path); err == nil && filepath.IsAbs(path) && strings.HasPrefix(path, filepath.Dir(folder)+"/") {
		return inner
	}
	return path
}

func environment(values types.MappingWithEquals) object {
	made := object{}
	for key, value := range values {
		if value != nil {
			made[key] = *value
		}
	}
	return made
}

func duration(value *types.Duration, otherwise int64) int64 {
	if value == nil {
		return otherwise
	}
	return time.Duration(*value).Milliseconds()
}

func healthcheck(check *types.HealthCheckConfig) object {
	if check == nil || check.Disable || len(check.Test) == 0 || check.Test[0] == "NONE" {
		return nil
	}
	command := []string(check.Test[1:])
	if check.Test[0] == "CMD-SHELL" {
		command = append([]string{"/bin/sh", "-c"}, command...)
	}
	retries := int64(3)
	if check.Retries != nil {
		retries = int64(*check.Retries)
	}
	made := object{}
	made.put("command", command)
	made.put("interval", duration(check.Interval, 30000))
	made.put("timeout", duration(check.Timeout, 30000))
	made.put("start_period", duration(check.StartPeriod, 0))
	made.put("retries", retries)
	return made
}

func granted(files []types.FileReferenceConfig, folder string) []any {
	made := []any{}
	for _, file := range files {
		target := file.Target
		if target == "" {
			target = file.Source
		}
		if !strings.HasPrefix(target, "/") {
			target = folder + target
		}
		made = append(made, object{"source": file.Source, "target": target})
	}
	return made
}

func service(one types.ServiceConfig, folder string) object {
	made := object{}
	made.put("image", one.Image)
	made.put("container_name", one.ContainerName)
	made.put("hostname", one.Hostname)
	made.put("user", one.User)
	made.put("working_dir", one.WorkingDir)
	if one.Build != nil {
		build := object{}
		build.put("context", near(folder, one.Build.Context))
		build.put("dockerfile", one.Build.Dockerfile)
		build.put("target", one.Build.Target)
		build.put("args", environment(one.Build.Args))
		made["build"] = build
	}
	made.put("command", []string(one.Command))
	made.put("entrypoint", []string(one.Entrypoint))
	made.put("environment", environment(one.Environment))
	ports, volumes := []any{}, []any{}
	for _, port := range one.Ports {
		entry := object{"target": port.Target, "protocol": port.Protocol}
		if port.Published != "" && port.Published != "0" && !strings.Contains(port.Published, "-") {
			entry["published"] = json.Number(port.Published)
		}
		ports = append(ports, entry)
	}
	for _, mount := range one.Volumes {
		if mount.Type != "bind" && mount.Type != "volume" && mount.Type != "tmpfs" {
			continue
		}
		entry := object{"type": mount.Type, "target": mount.Target}
		if mount.Type == "bind" {
			entry.put("source", near(folder, mount.Source))
		} else {
			entry.put("source", mount.Source)
		}
		volumes = append(volumes, entry)
	}
	made.put("ports", ports)
	made.put("volumes", volumes)
	configs, secrets := []types.FileReferenceConfig{}, []types.FileReferenceConfig{}
	for _, config := range one.Configs {
		configs = append(configs, types.FileReferenceConfig(config))
	}
	for _, secret := range one.Secrets {
		secrets = append(secrets, types.FileReferenceConfig(secret))
	}
	made.put("configs", granted(configs, "/"))
	made.put("secrets", granted(secrets, "/run/secrets/"))
	needed := object{}
	for name, condition := range one.DependsOn {
		needed[name] = condition.Condition
	}
	made.put("depends_on", needed)
	if check := healthcheck(one.HealthCheck); check != nil {
		made["healthcheck"] = check
	}
	made.put("profiles", one.Profiles)
	made.put("labels", texts(one.Labels))
	tmpfs := []string{}
	for _, path := range one.Tmpfs {
		path, _, _ = strings.Cut(path, ":")
		tmpfs = append(tmpfs, path)
	}
	made.put("tmpfs", tmpfs)
	limits(one, made)
	if one.Init != nil {
		made["init"] = *one.Init
	}
	made.put("tty", one.Tty)
	made.put("privileged", one.Privileged)
	made.put("capabilities", []string(one.CapAdd))
	return made
}

func thousandths(cpus float32) int64 { return int64(float64(cpus)*1000 + 0.5) }

func limits(one types.ServiceConfig, made object) {
	cpuMax, cpuMin := thousandths(one.CPUS), int64(0)
	memoryMax, memoryMin := int64(one.MemLimit), int64(one.MemReservation)
	if one.Deploy != nil {
		if most := one.Deploy.Resources.Limits; most != nil {
			if most.NanoCPUs != 0 {
				cpuMax = thousandths(most.NanoCPUs.Value())
			}
			if most.MemoryBytes != 0 {
				memoryMax = int64(most.MemoryBytes)
			}
		}
		if least := one.Deploy.Resources.Reservations; least != nil {
			if least.NanoCPUs != 0 {
				cpuMin = thousandths(least.NanoCPUs.Value())
			}
			if least.MemoryBytes != 0 {
				memoryMin = int64(least.MemoryBytes)
			}
		}
	}
	made.put("cpu_max", cpuMax)
	made.put("cpu_min", cpuMin)
	made.put("memory_max", memoryMax)
	made.put("memory_min", memoryMin)
	made.put("shm_size", int64(one.ShmSize))
}

func composed(asked question) (value any, err error) {
	folder, err := filepath.Abs(asked.Folder)
	if err != nil {
		return nil, err
	}
	variables := types.Mapping{}
	for key, value := range asked.Variables {
		variables[key] = value
	}
	env := filepath.Join(folder, ".env")
	if _, err := os.Stat(env); err == nil {
		found, err := dotenv.GetEnvFromFile(variables, []string{env})
		if err != nil {
			return nil, err
		}
		variables = variables.Merge(found)
	}
	files := []types.ConfigFile{}
	for _, file := range asked.Files {
		files = append(files, types.ConfigFile{Filename: filepath.Join(folder, file)})
	}
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{WorkingDir: folder, ConfigFiles: files, Environment: variables}, func(options *loader.Options) {
		options.SetProjectName("project", false)
		options.Profiles = asked.Profiles
	})
	if err != nil {
		return nil, err
	}
	services := object{}
	for name, one := range project.Services {
		for needed := range one.DependsOn {
			if _, runs := project.Services[needed]; !runs {
				delete(one.DependsOn, needed)
			}
		}
		services[name] = service(one, folder)
	}
	made := object{"services": services}
	made.put("volumes", project.VolumeNames())
	return made, nil
}
