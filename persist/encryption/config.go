package encryption

import (
	"encoding/json"
	"strings"
)

// A Configuration defines which resources are encrypted and with which providers.
type Configuration struct {
	rules []rule
	hash  string // hash of the text
}

// Hash identifies the configuration in metrics and logs.
func (c *Configuration) Hash() string { return c.hash }

// A rule lists resources and their providers. The first provider encrypts new values.
type rule struct {
	Resources []groupResource
	Providers []providerConfig
}

// A groupResource is a resource or a pattern. * matches any group or resource.
type groupResource struct{ group, resource string }

// String returns "secrets", "deployments.apps", "*.apps", "*." or "*.*".
func (g groupResource) String() string {
	if g.group == "" && g.resource != "*" {
		return g.resource
	}
	return g.resource + "." + g.group
}

// UnmarshalText splits at the first dot, because only groups may contain dots.
func (g *groupResource) UnmarshalText(b []byte) error {
	g.resource, g.group, _ = strings.Cut(string(b), ".")
	return nil
}

var anyResource = groupResource{"*", "*"}

type providerConfig struct {
	AESGCM, AESCBC, Secretbox *struct{ Keys []key }
	Identity                  *struct{}
	KMS                       *kmsConfig
}

type key struct {
	Name   string
	Secret []byte
}

type kmsConfig struct{ Name, Endpoint, Timeout string }

// Parse decodes a valid EncryptionConfiguration in JSON. hash identifies its text.
func Parse(text []byte, hash string) (*Configuration, error) {
	var file struct{ Resources []rule }
	err := json.Unmarshal(text, &file)
	return &Configuration{file.Resources, hash}, err
}
