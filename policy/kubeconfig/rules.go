package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Rules select the client configuration and override parts of it.
type Rules struct {
	// Path is the only file; "" means those of the environment.
	Path string
	// Fallback is used if there is no other file; "" means none.
	Fallback string
	// Context, Cluster and User replace the selection in the file.
	Context, Cluster, User string
	Overrides
	Programs Programs
	// Container is the root directory of a Pod's files, for tests [/].
	Container string
}

// Overrides take precedence over the fields of the files; "" means unset.
type Overrides struct {
	Server, TLSServerName, CertificateAuthority string
	InsecureSkipTLSVerify                       bool
	Namespace                                   string
	ClientCertificate, ClientKey, Token         string
	As, AsUID                                   string
	AsGroup                                     []string
}

// ErrNone says that there is no client configuration.
var ErrNone = errors.New("no client configuration found: set --kubeconfig or KUBECONFIG; troupe serve writes troupe-data/admin.kubeconfig")

// variable lists the files, separated by colons.
const variable = "KUBECONFIG"

// Files returns the files in order of precedence. Those in KUBECONFIG may be missing.
func (r Rules) Files() []string {
	if r.Path != "" {
		return []string{r.Path}
	}
	if list := os.Getenv(variable); list != "" {
		var files []string
		for _, path := range filepath.SplitList(list) {
			if path != "" {
				files = append(files, path)
			}
		}
		return files
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(home, ".kube", "config")}
}

// Load loads the configuration.
func (r Rules) Load() (*Config, error) {
	files := r.Files()
	f, err := r.read(files)
	if err != nil {
		return nil, err
	}
	config, err := r.config(f)
	if err != nil && !errors.Is(err, ErrNone) && len(files) > 0 {
		return nil, fmt.Errorf("client configuration %s: %w", strings.Join(files, ", "), err)
	}
	return config, err
}

// read reads the existing files. A file named by a flag must exist.
func (r Rules) read(files []string) (*file, error) {
	if r.Path == "" {
		var there []string
		for _, path := range files {
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				there = append(there, path)
			}
		}
		if files = there; len(there) == 0 && r.Fallback != "" && !inContainer() {
			if _, err := os.Stat(r.Fallback); err == nil {
				files = []string{r.Fallback}
			}
		}
	}
	return readFiles(files...)
}

func (r Rules) config(f *file) (*Config, error) {
	o := r.Overrides
	if len(f.clusters) == 0 && r.Path == "" && o.Server == "" {
		return r.inContainer()
	}
	pair, err := f.pick(r.Context)
	if err != nil && (r.Cluster == "" && o.Server == "" || r.Context != "") {
		return nil, err
	}
	c, err := f.cluster(cmp.Or(r.Cluster, pair.Cluster))
	if err != nil && (o.Server == "" || r.Cluster != "") {
		return nil, err
	}
	u, err := f.user(cmp.Or(r.User, pair.User))
	if err != nil {
		return nil, err
	}
	o.apply(&c, &u)
	config, err := newConfig(c, u, r.Programs)
	if err != nil {
		return nil, err
	}
	config.Namespace = cmp.Or(o.Namespace, pair.Namespace)
	return config, nil
}

// apply applies flags to the content of a file. Files in flags are relative to the working
// directory.
func (o Overrides) apply(c *cluster, u *user) {
	c.Server, c.ServerName = cmp.Or(o.Server, c.Server), cmp.Or(o.TLSServerName, c.ServerName)
	if o.CertificateAuthority != "" {
		c.CertificateAuthority, c.CertificateAuthorityData = workingPath(o.CertificateAuthority), ""
	}
	if o.InsecureSkipTLSVerify {
		c.Insecure, c.CertificateAuthority, c.CertificateAuthorityData = true, "", ""
	}
	if o.ClientCertificate != "" {
		u.Certificate, u.CertificateData = workingPath(o.ClientCertificate), ""
	}
	if o.ClientKey != "" {
		u.Key, u.KeyData = workingPath(o.ClientKey), ""
	}
	// replaces all other credentials except certificates
	if o.Token != "" {
		u.Token, u.TokenFile, u.Username, u.Password, u.Exec, u.Provider = o.Token, "", "", "", nil, nil
	}
	if o.As != "" || o.AsUID != "" || len(o.AsGroup) > 0 {
		u.As, u.AsUID, u.AsGroups, u.AsExtra = o.As, o.AsUID, o.AsGroup, nil
	}
}

func workingPath(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return absolute
}

// serviceVariables name the server in a container.
var serviceVariables = [2]string{"PLATFORM_SERVICE_HOST", "PLATFORM_SERVICE_PORT"}

func inContainer() bool {
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		if os.Getenv(naming.Translate(serviceVariables[0])) != "" {
			return true
		}
	}
	return false
}

// inContainer returns the configuration of a Pod's container: the server in environment variables,
// and the service account's token, CA and namespace in files.
func (r Rules) inContainer() (*Config, error) {
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		host, port := os.Getenv(naming.Translate(serviceVariables[0])), os.Getenv(naming.Translate(serviceVariables[1]))
		if host == "" || port == "" {
			continue
		}
		dir := filepath.Join(cmp.Or(r.Container, "/"), naming.Translate("/var/run/secrets/platform.io/serviceaccount"))
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		c := cluster{Server: "https://" + host + ":" + port, CertificateAuthority: filepath.Join(dir, "ca.crt")}
		u := user{name: "service account", TokenFile: filepath.Join(dir, "token")}
		r.Overrides.apply(&c, &u)
		config, err := newConfig(c, u, r.Programs)
		if err != nil {
			return nil, fmt.Errorf("the service account of the container: %w", err)
		}
		namespace, err := os.ReadFile(filepath.Join(dir, "namespace"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		config.Namespace = cmp.Or(r.Overrides.Namespace, strings.TrimSpace(string(namespace)))
		return config, nil
	}
	return nil, ErrNone
}
