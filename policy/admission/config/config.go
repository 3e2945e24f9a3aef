package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// A Config maps plugins to their configuration. The nil Config is empty.
type Config struct{ plugins map[string]tree.Tree }

// For returns a plugin's configuration, or nil.
func (c *Config) For(plugin string) tree.Tree {
	if c == nil {
		return nil
	}
	return c.plugins[plugin]
}

// Unread returns the sorted names of configured plugins without a registration.
func (c *Config) Unread(all []admission.Registration) []string {
	if c == nil {
		return nil
	}
	var names []string
	for name := range c.plugins {
		if !slices.ContainsFunc(all, func(r admission.Registration) bool { return r.Name == name }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Load reads the configuration file at path and the files that it references. For an empty path, it
// returns nil. Errors name file and field.
func Load(path string, naming *meta.Naming) (*Config, error) {
	if path == "" {
		return nil, nil
	}
	c := &Config{plugins: map[string]tree.Tree{}}
	t, err := readFile(path)
	if err == nil {
		err = c.read(t, filepath.Dir(path), naming)
	}
	if err != nil {
		return nil, fmt.Errorf("admission configuration %s: %w", path, err)
	}
	return c, nil
}

func readFile(path string) (tree.Tree, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := codec.DecodeConfigFile(text)
	if err == nil && t == nil {
		err = errors.New("must be an object")
	}
	return t, err
}

// legacy maps a top-level field to its plugin. A file without kind may hold only the configuration
// of one of these plugins.
var legacy = map[string]string{"podNodeSelectorPluginConfig": "PodNodeSelector", "imagePolicy": "ImagePolicyWebhook"}

func (c *Config) read(t tree.Tree, dir string, naming *meta.Naming) error {
	if !t.Has("kind") && !t.Has("apiVersion") {
		for field, plugin := range legacy {
			if t.Has(field) {
				c.plugins[plugin] = t
				return nil
			}
		}
	}
	versions := []string{naming.Group("apiserver.config") + "/v1", naming.Group("apiserver") + "/v1alpha1"}
	if version, kind := t.String("apiVersion"), t.String("kind"); kind != "AdmissionConfiguration" || !slices.Contains(versions, version) {
		return fmt.Errorf("apiVersion %q, kind %q: must be AdmissionConfiguration of %s or %s", version, kind, versions[0], versions[1])
	}
	if err := CheckFields(t, "", "apiVersion", "kind", "plugins"); err != nil {
		return err
	}
	if _, ok := t["plugins"].([]any); !ok && t.Has("plugins") {
		return errors.New("plugins: must be a list")
	}
	for i, plugin := range t.Objects("plugins") {

		if err := c.addPlugin(plugin, dir); err != nil {
			return fmt.Errorf("%s%w", tree.IndexPath("plugins", i), err)
		}
	}
	return nil
}

// addPlugin reads one plugin's configuration. Field paths in errors are relative to the plugin.
func (c *Config) addPlugin(plugin tree.Tree, dir string) error {
	name := plugin.String("name")
	switch {
	case !slices.Contains(admission.Names(), name):
		return fmt.Errorf(".name: unknown admission plugin %q", name)
	case c.plugins[name] != nil:
		return fmt.Errorf(".name: %q is listed twice", name)
	}
	if err := CheckFields(plugin, ".", "name", "path", "configuration"); err != nil {
		return err
	}
	if plugin.Has("configuration") {
		t, ok := plugin["configuration"].(tree.Tree)
		if !ok {
			return errors.New(".configuration: must be an object")
		}
		c.plugins[name] = t
		return nil
	}
	path := plugin.String("path")
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	t, err := readFile(path)
	if err != nil {
		return fmt.Errorf(".path: %s: %w", path, err)
	}
	c.plugins[name] = t
	return nil
}

// CheckFields returns an error for the first field of t, in sorted order, that is not in known.
// path is the prefix of the field path.
func CheckFields(t tree.Tree, path string, known ...string) error {
	for _, name := range t.SortedKeys() {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s%s: unknown field", path, name)
		}
	}
	return nil
}
