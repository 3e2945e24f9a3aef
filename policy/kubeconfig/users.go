package kubeconfig

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// Users are the users of a client configuration file as credentials for many servers: the name of a user
// says for which. It is "host:port", or "host" where the port is 443; it may begin with "*.", which stands for one
// or more labels of the host; "*" stands for all servers that no other name is for.
type Users struct {
	dir   baseDir
	users map[string]user
	// fallback is the user of the current context, for servers that no name is for.
	fallback string
}

// A Credential is what a client proves itself with. The zero value proves nothing.
type Credential struct {
	dir  baseDir
	user user
}

// LoadUsers reads the users of the file at path. It fails if one of them is broken, files that it names included.
func LoadUsers(path string) (*Users, error) {
	u, err := loadUsers(path)
	if err != nil {
		return nil, fmt.Errorf("client configuration %s: %w", path, err)
	}
	return u, nil
}

func loadUsers(path string) (*Users, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f file
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, errors.New("the file is no client configuration in YAML") // an excerpt might be secret
	}
	u := &Users{dir: baseDir(filepath.Dir(path)), users: map[string]user{}}
	for _, named := range f.Users {
		one, err := f.user(named.Name)
		if err != nil {
			return nil, err
		}
		c := Credential{u.dir, one}
		_, certificateErr := c.Certificate()
		_, headerErr := c.Authorization()
		if err := errors.Join(certificateErr, headerErr); err != nil {
			return nil, fmt.Errorf("user %q: %w", named.Name, err)
		}
		u.users[named.Name] = one
	}
	for _, named := range f.Contexts {
		if f.CurrentContext != "" && named.Name == f.CurrentContext {
			u.fallback = named.Context.User
		}
	}
	return u, nil
}

// For is the credential for a server, which is named "host:port". The nil Users have none.
func (u *Users) For(target string) Credential {
	if u == nil {
		return Credential{}
	}
	names := candidates(target)
	if host, port, err := net.SplitHostPort(target); err == nil && port == "443" {
		names = append(names, candidates(host)...)
	}
	for _, name := range append(names, "*", u.fallback) {
		if one, ok := u.users[name]; ok {
			return Credential{u.dir, one}
		}
	}
	return Credential{}
}

// candidates are the names that are for a target, the most specific first: "*.example.com" is for every
// host below it, at any depth.
func candidates(target string) []string {
	names := []string{target}
	for rest := target; ; {
		_, after, more := strings.Cut(rest, ".")
		if !more {
			return names
		}
		names, rest = append(names, "*."+after), after
	}
}

// Authorization is the Authorization header for the next request; "" is none.
func (c Credential) Authorization() (string, error) { return c.dir.authorization(c.user) }

// Certificate is the client certificate for the next connection; nil if there is none.
func (c Credential) Certificate() (*tls.Certificate, error) { return c.dir.pair(c.user) }
