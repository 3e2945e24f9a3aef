package client

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/tree"
)

// valueFlags are the flags for the values of a ConfigMap or Secret.
type valueFlags struct{ FromLiteral, FromFile, FromEnvFile []string }

// values returns the values by key. Duplicate keys are an error.
func (v *valueFlags) values() (map[string][]byte, error) {
	all := map[string][]byte{}
	add := func(key string, value []byte) error {
		if _, twice := all[key]; twice {
			return usageError(fmt.Sprintf("cannot add key %q, another key by that name already exists", key))
		}
		all[key] = value
		return nil
	}
	for _, l := range v.FromLiteral {
		key, text, ok := strings.Cut(l, "=")
		if !ok || key == "" {
			return nil, usageError(fmt.Sprintf("invalid literal source %v, expected key=value", l))
		}
		if err := add(key, []byte(text)); err != nil {
			return nil, err
		}
	}
	for _, source := range v.FromFile {
		key, path, given := strings.Cut(source, "=")
		if !given {
			path, key = source, filepath.Base(source)
		}
		paths := map[string]string{key: path}
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			if given {
				return nil, usageError("cannot give a key name for a directory: " + source)
			}
			delete(paths, key)
			entries, err := os.ReadDir(path)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.Type().IsRegular() {
					paths[e.Name()] = filepath.Join(path, e.Name())
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(paths)) {
			text, err := os.ReadFile(paths[key])
			if err != nil {
				return nil, err
			}
			if err := add(key, text); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range v.FromEnvFile {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
				continue
			}
			key, value, ok := strings.Cut(strings.TrimLeft(line, " \t"), "=")
			if !ok {
				value = os.Getenv(key)
			}
			if err := add(key, []byte(value)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
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
