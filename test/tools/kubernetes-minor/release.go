package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

func newRelease(s *source) (inventory, error) {
	i := inventory{}
	for _, read := range []func(*source) error{i.readSurface, i.readEnums, i.readGates, i.readFlags, i.readMetrics, i.readPlugins, i.readRoles} {
		if err := read(s); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// readSurface adds the contents of the published documents, which include all API versions.
func (i inventory) readSurface(s *source) error {
	for pattern, add := range map[string]func([]byte) error{"api/openapi-spec/v3/*.json": i.addOpenAPI, "api/discovery/*__v*.json": i.addResources} {
		files, err := filepath.Glob(filepath.Join(s.modules[kubernetes], pattern))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no %s: %w", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := add(text); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

var (
	generatedModel = regexp.MustCompile(`^func schema_(?:k8sio_)?(\w+)\(`)
	generatedField = regexp.MustCompile(`^\t{5}"(\w+)": \{`)
	generatedEnum  = regexp.MustCompile(`^\t+Enum: +\[\]interface\{\}\{(.*)\},`)
	quoted         = regexp.MustCompile(`"([^"]*)"`)
)

// readEnums adds the enums in the generated Go models, which the published documents omit.
func (i inventory) readEnums(s *source) error {
	text, err := s.read("pkg/generated/openapi/zz_generated.openapi.go")
	if err != nil {
		return err
	}
	model, field := "", ""
	for line := range strings.Lines(string(text)) {
		if m := generatedModel.FindStringSubmatch(line); m != nil {
			model = "io.k8s." + strings.ReplaceAll(m[1], "_", ".")
		} else if m := generatedField.FindStringSubmatch(line); m != nil {
			field = m[1]
		} else if m := generatedEnum.FindStringSubmatch(line); m != nil && i["schemas"][model] != nil {
			for _, value := range quoted.FindAllStringSubmatch(m[1], -1) {
				i.add("schemas", model, field, "enum="+value[1])
			}
		}
	}
	return nil
}

// readGates adds the feature gates with their state in the release.
func (i inventory) readGates(s *source) error {
	text, err := s.read("test/compatibility_lifecycle/reference/versioned_feature_list.yaml")
	if err != nil {
		return err
	}
	type spec struct {
		Default, LockToDefault                       bool
		PreRelease, Version, MinCompatibilityVersion string
	}
	var gates []struct {
		Name           string
		VersionedSpecs []spec
	}
	if err := yaml.Unmarshal(text, &gates); err != nil {
		return err
	}
	minor := s.version[:strings.LastIndex(s.version, ".")]
	for _, g := range gates {
		var last spec
		for _, v := range g.VersionedSpecs {
			if v.MinCompatibilityVersion != minor { // servers remain compatible with the previous minor
				last = v
			}
		}
		i.add("gates", g.Name, strings.ToUpper(last.PreRelease))
		i.add("gates", g.Name, onOff[last.Default])
		if last.LockToDefault {
			i.add("gates", g.Name, "locked")
		} else if last.Version == minor {
			i.add("gates", g.Name, "effective")
		}
	}
	return nil
}
