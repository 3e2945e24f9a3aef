package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Load lays the settings of the file at path over c.
func (c *Config) Load(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := c.Read(data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Read lays the settings of a YAML text over c. Keys that the text leaves out stay as they
// are. Keys that do not exist, each of them, and keys that are there twice are errors.
func (c *Config) Read(data []byte) error {
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err
	}
	if tree == nil {
		return nil // a file of comments only
	}
	if err := errors.Join(unknown("", tree, reflect.TypeFor[Config]())...); err != nil {
		return err
	}
	return json.Unmarshal(text, c)
}

// unknown reports what of tree has no place in a value of type t.
func unknown(path string, tree any, t reflect.Type) []error {
	if t.Kind() != reflect.Struct {
		return nil
	}
	keys, ok := tree.(map[string]any)
	if !ok {
		return []error{fmt.Errorf("%s: must be a map of keys", strings.TrimSuffix("settings."+path, "."))}
	}
	var errs []error
	for key, value := range keys {
		field, ok := fieldOf(t, key)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("unknown key %q", path+key))
		case value == nil:
			errs = append(errs, fmt.Errorf("%s: has no value", path+key))
		default:
			errs = append(errs, unknown(path+key+".", value, field.Type)...)
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for field := range t.Fields() {
		if field.Tag.Get("json") == key {
			return field, true
		}
	}
	return reflect.StructField{}, false
}
