package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"sigs.k8s.io/yaml"
)

// A Config maps plugins to their configuration.
type Config map[string]tree.Tree

// Unread returns the sorted names of configured plugins without a registration.
func (c Config) Unread(all []admission.Registration) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c)), func(name string) bool {
		return slices.ContainsFunc(all, func(r admission.Registration) bool { return r.Name == name })
	})
}

// Load reads the configuration file at path and the files that it references. It returns nil if
// path is empty. Errors include the file name and the field path.
func Load(path string, kinds *catalog.Catalog) (Config, error) {
	if path == "" {
		return nil, nil
	}
	c := Config{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = c.read(text, filepath.Dir(path), kinds)
	}
	if err != nil {
		return nil, fmt.Errorf("admission configuration %s: %w", path, err)
	}
	return c, nil
}

// legacy maps the top-level fields of files without a kind to the plugins that they configure. Such
// a file may hold only one of these fields.
var legacy = map[string]string{"podNodeSelectorPluginConfig": "PodNodeSelector", "imagePolicy": "ImagePolicyWebhook"}

func (c Config) read(text []byte, dir string, kinds *catalog.Catalog) (err error) {
	var fields map[string]any
	if yaml.Unmarshal(text, &fields) == nil && fields["kind"] == nil && fields["apiVersion"] == nil {
		for field, plugin := range legacy {
			if fields[field] != nil {
				c[plugin], err = kinds.DecodeConfig(plugin, text)
				return err
			}
		}
	}
	t, err := kinds.DecodeConfig("AdmissionConfiguration", text)
	if err != nil {
		return err
	}
	for i, plugin := range t.Objects("plugins") {
		if err := c.addPlugin(plugin, dir, kinds); err != nil {
			return fmt.Errorf("%s%w", tree.IndexPath("plugins", i), err)
		}
	}
	return nil
}

// addPlugin reads one plugin's configuration. Field paths in errors are relative to the plugin.
func (c Config) addPlugin(plugin tree.Tree, dir string, kinds *catalog.Catalog) (err error) {
	name, path, at := plugin.String("name"), plugin.String("path"), ".configuration"
	text := codec.AppendAny(nil, plugin["configuration"])
	switch {
	case !slices.Contains(admission.Names(), name):
		return fmt.Errorf(".name: unknown admission plugin %q", name)
	case plugin.Has("configuration"):
	case path == "":
		return nil
	default:
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		at = ".path: " + path
		if text, err = os.ReadFile(path); err != nil {
			return fmt.Errorf(".path: %w", err)
		}
	}
	if c[name] = nil; kinds.Message("apiserver.v1."+name) == nil {
		return nil // the plugin has no configuration
	}
	if c[name], err = kinds.DecodeConfig(name, text); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}
