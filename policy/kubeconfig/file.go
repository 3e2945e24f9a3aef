package kubeconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

type fileText struct {
	Clusters []struct {
		Name    string  `json:"name"`
		Cluster cluster `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User user   `json:"user"`
	} `json:"users"`
	Contexts []struct {
		Name    string  `json:"name"`
		Context pairing `json:"context"`
	} `json:"contexts"`
	CurrentContext string `json:"current-context"`
}

// A cluster's data fields take precedence over its file names, as in kubectl.
type cluster struct {
	Server                   string `json:"server"`
	ProxyURL                 string `json:"proxy-url"`
	ServerName               string `json:"tls-server-name"`
	Insecure                 bool   `json:"insecure-skip-tls-verify"`
	DisableCompression       bool   `json:"disable-compression"`
	CertificateAuthority     string `json:"certificate-authority"`
	CertificateAuthorityData string `json:"certificate-authority-data"`
	Extensions               []struct {
		Name      string          `json:"name"`
		Extension json.RawMessage `json:"extension"`
	} `json:"extensions"`

	dir baseDir
}

type user struct {
	Certificate     string              `json:"client-certificate"`
	CertificateData string              `json:"client-certificate-data"`
	Key             string              `json:"client-key"`
	KeyData         string              `json:"client-key-data"`
	Token           string              `json:"token"`
	TokenFile       string              `json:"tokenFile"`
	Username        string              `json:"username"`
	Password        string              `json:"password"`
	As              string              `json:"as"`
	AsUID           string              `json:"as-uid"`
	AsGroups        []string            `json:"as-groups"`
	AsExtra         map[string][]string `json:"as-user-extra"`
	Exec            *execConfig         `json:"exec"`
	Provider        *authProvider       `json:"auth-provider"`

	name, path string // name of the user and path of the kubeconfig
	dir        baseDir
}

type pairing struct {
	Cluster   string `json:"cluster"`
	User      string `json:"user"`
	Namespace string `json:"namespace"`
}

// A file merges one or more kubeconfigs. The first definition of a name takes precedence.
type file struct {
	clusters map[string]cluster
	users    map[string]user
	contexts map[string]pairing
	current  string
}

func readFiles(paths ...string) (*file, error) {
	f := &file{map[string]cluster{}, map[string]user{}, map[string]pairing{}, ""}
	for _, path := range paths {
		if err := f.read(path); err != nil {
			return nil, fmt.Errorf("client configuration %s: %w", path, withoutPath(err))
		}
	}
	return f, nil
}

const maxFile = 16 << 20

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("the file exceeds %d MiB", maxFile>>20)
	}
	return text, err
}

func withoutPath(err error) error {
	var failed *os.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

func (f *file) read(path string) error {
	text, err := readFile(path)
	if err != nil {
		return err
	}
	var t fileText
	if err := yaml.Unmarshal(text, &t); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return fmt.Errorf("%s has the wrong type", wrong.Field)
		}
		return errors.New("the file is not a client configuration in YAML") // an excerpt might be secret
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	dir := baseDir(filepath.Dir(absolute))
	for _, named := range t.Clusters {
		named.Cluster.dir = dir
		addNew(f.clusters, named.Name, named.Cluster)
	}
	for _, named := range t.Users {
		named.User.name, named.User.path, named.User.dir = named.Name, absolute, dir
		addNew(f.users, named.Name, named.User)
	}
	for _, named := range t.Contexts {
		addNew(f.contexts, named.Name, named.Context)
	}
	if f.current == "" {
		f.current = t.CurrentContext
	}
	return nil
}

func addNew[V any](to map[string]V, name string, v V) {
	if _, known := to[name]; !known {
		to[name] = v
	}
}

// pick returns the cluster and user of a context, or of the current context if context is empty. A
// kubeconfig with one cluster and at most one user needs no context.
func (f *file) pick(context string) (pairing, error) {
	if context != "" {
		if p, ok := f.contexts[context]; ok {
			return p, nil
		}
		return pairing{}, fmt.Errorf("context %q does not exist", context)
	}
	if p, ok := f.contexts[f.current]; ok {
		return p, nil
	}
	if f.current != "" || len(f.clusters) != 1 || len(f.users) > 1 {
		return pairing{}, fmt.Errorf("current-context %q does not exist", f.current)
	}
	var p pairing
	for p.Cluster = range f.clusters {
	}
	for p.User = range f.users {
	}
	return p, nil
}

func (f *file) cluster(name string) (cluster, error) {
	if c, ok := f.clusters[name]; ok {
		return c, nil
	}
	return cluster{}, fmt.Errorf("cluster %q does not exist", name)
}

func (f *file) user(name string) (user, error) {
	u, ok := f.users[name]
	if !ok && name != "" {
		return user{}, fmt.Errorf("user %q does not exist", name)
	}
	return u, nil
}
