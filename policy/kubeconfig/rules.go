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

// Rules selects the kubeconfig and overrides parts of it.
type Rules struct {
	// Path is the only file to read. If it is empty, the environment determines the files.
	Path string
	// Fallback is the file to read if no other file exists. It may be empty.
	Fallback string
	// Context, Cluster and User override the selection in the files.
	Context, Cluster, User string
	Overrides
	Programs Programs
	// Container overrides the container's root directory in tests.
	Container string
}

// Overrides take precedence over the fields in the files. Empty fields have no effect.
type Overrides struct {
	Server, TLSServerName, CertificateAuthority string
	InsecureSkipTLSVerify                       bool
	Namespace                                   string
	ClientCertificate, ClientKey, Token         string
	As, AsUID                                   string
	AsGroup                                     []string
}

// ErrNone is returned if no kubeconfig exists.
var ErrNone = errors.New("no client configuration found: set --kubeconfig or KUBECONFIG; troupe serve writes troupe-data/admin.kubeconfig")

const variable = "KUBECONFIG"

// Files returns the paths of the files in order of precedence. Unless Path is set, some or all of
// these files may not exist.
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

// Load loads the selected kubeconfig or, if no kubeconfig exists, the container's service account.
// If neither exists and KUBECONFIG is empty, the error is ErrNone.
func (r Rules) Load() (*Config, error) {
	files := r.existing()
	f, err := readFiles(files...)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 && os.Getenv(variable) != "" {
		files = r.Files()
	}
	config, err := r.config(f)
	if errors.Is(err, ErrNone) && len(files) > 0 {
		err = errors.New("the file does not exist, or has no clusters")
	}
	if err != nil && len(files) > 0 {
		return nil, fmt.Errorf("client configuration %s: %w", strings.Join(files, ", "), err)
	}
	return config, err
}

// existing returns the files to read: Path if it is set, otherwise the files that exist, or else
// the fallback. Path must exist.
func (r Rules) existing() (there []string) {
	if r.Path != "" {
		return []string{r.Path}
	}
	for _, path := range r.Files() {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			there = append(there, path)
		}
	}
	if len(there) == 0 && r.Fallback != "" && !inContainer() {
		if _, err := os.Stat(r.Fallback); err == nil {
			return []string{r.Fallback}
		}
	}
	return there
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

// apply overrides the fields of a cluster and user. Relative paths in flags refer to the working
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
	// The token replaces all of the user's credentials except a client certificate.
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

var serviceVariables = [2]string{"PLATFORM_SERVICE_HOST", "PLATFORM_SERVICE_PORT"}

func inContainer() bool {
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		if os.Getenv(naming.Translate(serviceVariables[0])) != "" {
			return true
		}
	}
	return false
}

// inContainer returns a Pod's in-cluster configuration, from environment variables and the service
// account files.
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
