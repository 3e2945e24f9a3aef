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

// Load merges the configuration file at path into c. Call Override afterward, because flags take
// precedence over the file.
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

// Read merges YAML settings into c. Unknown keys, wrong types and duplicates are errors, and leave
// c unchanged.
func (c *Config) Read(data []byte) error {
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(text)) == "null" {
		return nil // only comments
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return errors.New("settings: must be a map")
	}
	changed := *c
	r := fileReader{config: &changed, fields: changed.fields(), seen: map[string]bool{}}
	r.read("", tree)
	if len(r.errs) == 0 {
		*c = changed
	}
	// Sort the errors, because the order of map keys is random.
	slices.SortFunc(r.errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(r.errs...)
}

type fileReader struct {
	config *Config
	fields map[string]reflect.Value
	seen   map[string]bool
	errs   []error
}

// read sets the fields of the configuration from a map of keys and values. It also accepts the
// nested keys of earlier releases, whose prefix is path, such as "tls.".
func (r *fileReader) read(path string, tree map[string]any) {
	for key, value := range tree {
		key = path + key
		name := key
		if i := slices.IndexFunc(declarations(), func(d declaration) bool { return d["was"] == key }); i >= 0 {
			name = declarations()[i]["name"]
			r.config.renamed = append(r.config.renamed, [2]string{key, name})
		}
		field, ok := r.fields[name]
		section, isSection := value.(map[string]any)
		switch {
		case !ok && isSection && slices.ContainsFunc(declarations(), func(d declaration) bool { return strings.HasPrefix(d["was"], key+".") }):
			r.read(key+".", section)
		case !ok:
			r.errs = append(r.errs, fmt.Errorf("unknown key %q", key))
		case r.seen[name]:
			r.errs = append(r.errs, fmt.Errorf("%s: duplicate key", name))
		default:
			r.seen[name] = true
			r.config.noteDeprecated(name)
			if err := setField(field, value); err != nil {
				r.errs = append(r.errs, fmt.Errorf("%s: %w", key, err))
			}
		}
	}
}

// noteDeprecated makes New warn that a deprecated setting is in use.
func (c *Config) noteDeprecated(name string) {
	for _, d := range declarations() {
		if d["name"] == name && d["deprecated"] != "" {
			c.deprecated = append(c.deprecated, [2]string{name, d["deprecated"]})
		}
	}
}

func setField(field reflect.Value, value any) error {
	// Reject a key without a value, because the user might expect the default or an empty value.
	if value == nil {
		return errors.New("has no value")
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	fresh := reflect.New(field.Type())
	err = json.Unmarshal(text, fresh.Interface())
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s is %s", text, mismatch(field.Kind()))
	}
	if err == nil {
		field.Set(fresh.Elem())
	}
	return err
}

func mismatch(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "not true or false"
	case reflect.String:
		return "no text"
	case reflect.Slice:
		return "not a list of strings"
	case reflect.Map:
		return "not a map of names to true or false"
	case reflect.Float64:
		return "no number"
	}
	return "not a whole number"
}
