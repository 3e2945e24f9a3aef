package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/tree"
)

type valueFlags struct{ FromLiteral, FromFile, FromEnvFile []string }

// values returns the values by key. Duplicate keys are an error.
func (v *valueFlags) values() (map[string][]byte, error) {
	all, faults := map[string][]byte{}, []error{}
	add := func(key string, value []byte, err error) {
		if _, twice := all[key]; twice && err == nil {
			err = usageError(fmt.Sprintf("cannot add key %q, another key by that name already exists", key))
		}
		all[key], faults = value, append(faults, err)
	}
	addFile := func(key, path string) {
		text, err := os.ReadFile(path)
		add(key, text, err)
	}
	for _, l := range v.FromLiteral {
		key, text, ok := strings.Cut(l, "=")
		if !ok || key == "" {
			return nil, usageError(fmt.Sprintf("invalid literal source %v, expected key=value", l))
		}
		add(key, []byte(text), nil)
	}
	for _, source := range v.FromFile {
		key, path, given := strings.Cut(source, "=")
		if !given {
			key, path = filepath.Base(source), source
		}
		entries, err := os.ReadDir(path)
		switch {
		case err != nil: // a file, or missing
			addFile(key, path)
		case given:
			return nil, usageError("cannot give a key name for a directory: " + source)
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				addFile(e.Name(), filepath.Join(path, e.Name()))
			}
		}
	}
	for _, path := range v.FromEnvFile {
		text, err := os.ReadFile(path)
		faults = append(faults, err)
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
				continue
			}
			key, value, ok := strings.Cut(strings.TrimLeft(line, " \t"), "=")
			if !ok {
				value = os.Getenv(key)
			}
			add(key, []byte(value), nil)
		}
	}
	return all, errors.Join(faults...)
}

type configMap struct{ valueFlags }

func (o *configMap) build(*generated) (tree.Tree, error) {
	values, err := o.values()
	if err != nil {
		return nil, err
	}
	t := tree.Tree{}
	for key, value := range values {
		if utf8.Valid(value) {
			t.EnsureObject("data")[key] = string(value)
		} else {
			t.EnsureObject("binaryData")[key] = base64.StdEncoding.EncodeToString(value)
		}
	}
	return t, nil
}
