package kubeconfig

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// lists maps each list in a kubeconfig to the field that holds the content of its entries.
var lists = map[string]string{"clusters": "cluster", "users": "user", "contexts": "context"}

// View returns the merged kubeconfig. The first definition of a name takes precedence. Paths stay
// relative to the files that contain them.
func (r Rules) View() (map[string]any, error) {
	view := map[string]any{"apiVersion": "v1", "kind": "Config", "current-context": "", "clusters": []any{}, "users": []any{}, "contexts": []any{}}
	for _, path := range r.present() {
		text, err := readFile(path)
		if err != nil {
			return nil, err
		}
		var file map[string]any
		if err := yaml.Unmarshal(text, &file); err != nil {
			return nil, fmt.Errorf("client configuration %s: the file is not a client configuration in YAML", path)
		}
		for list := range lists {
			entries, _ := file[list].([]any)
			for _, e := range entries {
				entry, ok := e.(map[string]any)
				if name, named := entry["name"].(string); ok && named && Entry(view, list, name) == nil {
					view[list] = append(view[list].([]any), entry)
				}
			}
		}
		if view["current-context"] == "" && file["current-context"] != nil {
			view["current-context"] = file["current-context"]
		}
	}
	return view, nil
}

// Target returns the file in which to change an entry: the file that contains the entry, or
// otherwise the first file.
func (r Rules) Target(list, name string) string {
	present := r.present()
	for _, path := range present {
		text, err := readFile(path)
		if err != nil {
			continue
		}
		var file map[string]any
		if yaml.Unmarshal(text, &file) == nil && Entry(file, list, name) != nil {
			return path
		}
	}
	if len(present) > 0 {
		return present[0]
	}
	if files := r.Files(); len(files) > 0 {
		return files[0]
	}
	return ""
}

func (r Rules) present() (there []string) {
	for _, path := range r.Files() {
		if _, err := os.Stat(path); err == nil {
			there = append(there, path)
		}
	}
	if len(there) == 0 && r.Path == "" && r.Fallback != "" {
		if _, err := os.Stat(r.Fallback); err == nil {
			there = append(there, r.Fallback)
		}
	}
	return there
}
