package kubeconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/policy/certs"
)

// Edit applies change to the kubeconfig at path, or to an empty one if the file does not exist. It
// drops comments and replaces the file atomically. Edit and kubectl respect each other's lock.
func Edit(path string, change func(file map[string]any) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	file := map[string]any{}
	switch text, err := os.ReadFile(path); {
	case err == nil:
		if err := yaml.Unmarshal(text, &file); err != nil {
			return fmt.Errorf("%s is not a client configuration in YAML", path)
		}
		if file == nil {
			file = map[string]any{}
		}
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := change(file); err != nil {
		return err
	}
	for name, value := range map[string]any{"apiVersion": "v1", "kind": "Config"} {
		if _, ok := file[name]; !ok {
			file[name] = value
		}
	}
	text, err := yaml.Marshal(file)
	if err != nil {
		return err
	}
	return certs.WriteFile(path, text)
}

// lock locks a kubeconfig with the same lock file as kubectl.
func lock(path string) (unlock func(), err error) {
	const (
		patience = 5 * time.Second
		pause    = 20 * time.Millisecond
	)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	name := path + ".lock"
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0)
		if err == nil {
			return func() { os.Remove(name) }, f.Close()
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s is locked; if no other process edits it, remove %s", path, name)
		}
	}
}

// Entry returns the entry with the given name in a list of a kubeconfig (clusters, users or
// contexts), or nil.
func Entry(file map[string]any, list, name string) map[string]any {
	entries, _ := file[list].([]any)
	for _, e := range entries {
		if entry, ok := e.(map[string]any); ok && entry["name"] == name {
			return entry
		}
	}
	return nil
}
