package troupetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// fieldManager is the field manager of Load.
const fieldManager = "troupetest"

// Load applies the objects in YAML or JSON files: first CustomResourceDefinitions, then namespaces,
// then all others in order. Files may contain several documents and lists. Of a directory, Load
// reads the *.yaml, *.yml and *.json files by name, but no subdirectories. Existing objects are
// updated.
//
// Objects without a namespace go into default; their status is ignored. Any error fails the test
// and names the file.
func (s *Server) Load(paths ...string) {
	s.t.Helper()
	var all []object
	for _, path := range paths {
		objects, err := readObjects(path)
		if err != nil {
			s.t.Fatalf("troupetest: %v", err)
		}
		all = append(all, objects...)
	}
	slices.SortStableFunc(all, func(a, b object) int { return a.rank() - b.rank() })
	l := loader{server: s, resources: map[string][]resource{}}
	for _, o := range all {
		if err := l.apply(o); err != nil {
			s.t.Fatalf("troupetest: %s: %v", o.file, err)
		}
	}
}

// An object is the part of an object that Load needs, and its source.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`

	file string
	text []byte
}

// rank orders objects by dependency: an object needs its kind and its namespace.
func (o object) rank() int {
	switch o.Kind {
	case "CustomResourceDefinition":
		return 0
	case "Namespace":
		return 1
	}
	return 2
}

func readObjects(path string) ([]object, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if files, err = manifests(path); err != nil {
			return nil, err
		}
	}
	var all []object
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		objects, err := parseObjects(file, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// manifests returns the files of a directory that may contain objects. An empty result is an error.
func manifests(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no files named *.yaml, *.yml or *.json", dir)
	}
	return files, nil
}

// documentMarker matches the separator of YAML documents.
var documentMarker = regexp.MustCompile(`(?m)^---([ \t].*)?$`)

// parseObjects parses the documents of a file, except empty ones.
func parseObjects(file string, text []byte) ([]object, error) {
	var objects []object
	for i, document := range documentMarker.Split(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), -1) {
		data, err := yaml.YAMLToJSONStrict([]byte(document))
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		if string(data) == "null" {
			continue
		}
		found, err := parseObject(file, data)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// parseObject parses an object, or the items of a list.
func parseObject(file string, data []byte) ([]object, error) {
	o := object{file: file, text: data}
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	if o.APIVersion == "" || o.Kind == "" {
		return nil, errors.New("apiVersion and kind are required")
	}
	if !strings.HasSuffix(o.Kind, "List") || o.Items == nil {
		if o.Metadata.Name == "" {
			return nil, fmt.Errorf("the %s has no metadata.name", o.Kind)
		}
		return []object{o}, nil
	}
	var all []object
	for _, item := range o.Items {
		objects, err := parseObject(file, item)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

// A loader applies objects and caches discovery, which is stable because CRDs are applied first.
type loader struct {
	server    *Server
	resources map[string][]resource // by apiVersion
}

type resource struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced"`
}

func (l loader) apply(o object) error {
	path, err := l.path(o)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPatch, l.server.URL+path+"?force=true&fieldValidation=Strict&fieldManager="+fieldManager, bytes.NewReader(o.text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/apply-patch+yaml")
	if _, err := l.send(request); err != nil {
		return fmt.Errorf("%s %q: %w", o.Kind, o.Metadata.Name, err)
	}
	return nil
}

// path returns the URL path of an object, using discovery.
func (l loader) path(o object) (string, error) {
	base := "/apis/" + o.APIVersion
	if !strings.Contains(o.APIVersion, "/") {
		base = "/api/" + o.APIVersion
	}
	found, known := l.resources[o.APIVersion]
	if !known {
		request, err := http.NewRequest(http.MethodGet, l.server.URL+base, nil)
		if err != nil {
			return "", err
		}
		text, err := l.send(request)
		if err != nil {
			return "", fmt.Errorf("%s %q: discovery of %s: %w", o.Kind, o.Metadata.Name, o.APIVersion, err)
		}
		list := struct{ Resources []resource }{}
		if err := json.Unmarshal(text, &list); err != nil {
			return "", err
		}
		found = list.Resources
		l.resources[o.APIVersion] = found
	}
	i := slices.IndexFunc(found, func(r resource) bool { return r.Kind == o.Kind && !strings.Contains(r.Name, "/") })
	if i < 0 {
		return "", fmt.Errorf("%s %q: %s does not serve this kind", o.Kind, o.Metadata.Name, o.APIVersion)
	}
	if found[i].Namespaced {
		namespace := o.Metadata.Namespace
		if namespace == "" {
			namespace = "default"
		}
		base += "/namespaces/" + url.PathEscape(namespace)
	}
	return base + "/" + found[i].Name + "/" + url.PathEscape(o.Metadata.Name), nil
}

// send returns the body of a successful response, or an error with the message of the Status.
func (l loader) send(r *http.Request) ([]byte, error) {
	answer, err := l.server.Client().Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode < 300 {
		return text, err
	}
	status := struct{ Message string }{}
	if json.Unmarshal(text, &status) != nil || status.Message == "" {
		return nil, fmt.Errorf("%s: %s", answer.Status, text)
	}
	return nil, errors.New(status.Message)
}
