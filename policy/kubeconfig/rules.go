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

// Rules say which client configuration counts, and what is otherwise than it says.
type Rules struct {
	// Path is a file that counts alone; "" for those of the environment.
	Path string
	// Fallback is a file that counts where there is no other; "" for none.
	Fallback string
	// Context, Cluster and User are names instead of those of the file.
	Context, Cluster, User string
	// Overrides hold what flags say.
	Overrides Overrides
	// Programs say how programs that give credentials are run.
	Programs Programs
	// Container is where a Pod has its files, for tests [/].
	Container string
}

// Overrides are fields that win over those of the files; "" says nothing.
type Overrides struct {
	Server, ServerName, CertificateAuthority string
	Insecure                                 bool
	Namespace                                string
	Certificate, Key, Token                  string
	Username, Password                       string
	As, AsUID                                string
	AsGroups                                 []string
}

// ErrNone says that there is no client configuration at all.
var ErrNone = errors.New("there is no client configuration: name one with --kubeconfig or in KUBECONFIG; troupe serve writes troupe-data/admin.kubeconfig")

// variable names the files, with colons between.
const variable = "KUBECONFIG"

// Files are the files that count, the most important first. Those of KUBECONFIG may be missing.
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

// Load reads the configuration.
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

// read reads the files that count and are there. Only one that is named by a flag must be.
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

// apply changes what a file says to what flags say. Files that flags name are relative to the working directory.
func (o Overrides) apply(c *cluster, u *user) {
	c.Server, c.ServerName = cmp.Or(o.Server, c.Server), cmp.Or(o.ServerName, c.ServerName)
	if o.CertificateAuthority != "" {
		c.CertificateAuthority, c.CertificateAuthorityData = workingPath(o.CertificateAuthority), ""
	}
	if o.Insecure {
		c.Insecure, c.CertificateAuthority, c.CertificateAuthorityData = true, "", ""
	}
	if o.Certificate != "" {
		u.Certificate, u.CertificateData = workingPath(o.Certificate), ""
	}
	if o.Key != "" {
		u.Key, u.KeyData = workingPath(o.Key), ""
	}
	if o.Token != "" || o.Username != "" || o.Password != "" { // instead of any other header, and of programs
		u.Token, u.TokenFile, u.Username, u.Password, u.Exec, u.Provider = o.Token, "", o.Username, o.Password, nil, nil
	}
	if o.As != "" || o.AsUID != "" || len(o.AsGroups) > 0 {
		u.As, u.AsUID, u.AsGroups, u.AsExtra = o.As, o.AsUID, o.AsGroups, nil
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

// inContainer tells whether this process is in a container of a Pod.
func inContainer() bool {
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		if os.Getenv(naming.Translate(serviceVariables[0])) != "" {
			return true
		}
	}
	return false
}

// inContainer is what a Pod finds in its container: the server in variables of the environment, and the account's token, the CA
// and the namespace in files.
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
