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

// Load lays the settings of the file at path over c. It is laid over the defaults and under the flags, so
// the caller calls Override after it.
func (c *Config) Load(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	if err := c.Read(data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Read lays the settings of a YAML text over c. Keys that the text leaves out stay as they are. Keys that
// do not exist or have a value of another type, each of them, and keys that are there twice are errors. The
// whole text is checked before anything of c is changed.
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
	if err := errors.Join(schemaErrors("", tree, reflect.TypeFor[Config]())...); err != nil {
		return err
	}
	return json.Unmarshal(text, c)
}

// schemaErrors reports what of tree has no place in a value of type t. encoding/json could refuse unknown
// fields as well, but only the first, and without its path. Errors are sorted, as the order of a map is
// random.
func schemaErrors(path string, tree any, t reflect.Type) []error {
	// A setting, at which the path ends; everything above it is a section.
	if t.Kind() != reflect.Struct {
		if err := checkValue(tree, t); err != nil {
			return []error{fmt.Errorf("%s: %w", strings.TrimSuffix(path, "."), err)}
		}
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
		// A key without a value would silently keep the default, which its author most likely does not mean.
		case value == nil:
			errs = append(errs, fmt.Errorf("%s: has no value", path+key))
		default:
			errs = append(errs, schemaErrors(path+key+".", value, field.Type)...)
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// checkValue tells whether a value can be read as a setting of type t, and else why not. Decoding into a
// fresh value checks exactly what Read will do later, types with their own written form included.
func checkValue(value any, t reflect.Type) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	err = json.Unmarshal(text, reflect.New(t).Interface())
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
		return err // its own words, or none
	}
	switch t.Kind() {
	case reflect.Bool:
		return fmt.Errorf("%s is neither true nor false", text)
	case reflect.String:
		return fmt.Errorf("%s is no text", text)
	case reflect.Slice:
		return fmt.Errorf("%s is no list of texts", text)
	case reflect.Map:
		return fmt.Errorf("%s is no map of names to true or false", text)
	}
	return fmt.Errorf("%s is no whole number", text)
}

// fieldOf finds the field that a key names, by the exact tag. encoding/json also accepts keys in another case, which would
// make a key that is there twice pass as two.
func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for field := range t.Fields() {
		if field.Tag.Get("json") == key && key != "-" {
			return field, true
		}
	}
	return reflect.StructField{}, false
}
