package encryption

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// Naming holds the profile-dependent names in a configuration.
type Naming struct {
	APIVersion  string // of an EncryptionConfiguration
	EventsGroup string // whose events are stored as those of the core group
}

// A Configuration defines which resources are encrypted, and how.
type Configuration struct {
	rules []rule
	hash  string // of the text
}

// Hash identifies the text of the configuration in metrics and logs.
func (c *Configuration) Hash() string { return c.hash }

// A rule lists resources and their providers. The first provider encrypts new values.
type rule struct {
	resources []groupResource
	providers []providerConfig
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

// parseGroupResource splits at the first dot, because only groups may contain dots.
func parseGroupResource(s string) groupResource {
	resource, group, _ := strings.Cut(s, ".")
	return groupResource{group, resource}
}

// The file format matches kube-apiserver. Pointers distinguish absent fields from empty ones.
type (
	configFile struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Resources  []resourceFile `json:"resources"`
	}
	resourceFile struct {
		Resources []string         `json:"resources"`
		Providers []providerConfig `json:"providers"`
	}
	providerConfig struct {
		AESGCM    *keysFile `json:"aesgcm"`
		AESCBC    *keysFile `json:"aescbc"`
		Secretbox *keysFile `json:"secretbox"`
		Identity  *struct{} `json:"identity"`
		KMS       *kmsFile  `json:"kms"`
	}
	keysFile struct {
		Keys []keyFile `json:"keys"`
	}
	keyFile struct {
		Name   string `json:"name"`
		Secret string `json:"secret"`

		secret []byte // decoded
	}
	kmsFile struct {
		APIVersion string    `json:"apiVersion"`
		Name       string    `json:"name"`
		CacheSize  *int      `json:"cachesize"`
		Endpoint   string    `json:"endpoint"`
		Timeout    *duration `json:"timeout"`
	}
)

type duration time.Duration

func (d *duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	parsed, err := time.ParseDuration(text)
	*d = duration(parsed)
	return err
}

const defaultTimeout = 3 * time.Second

type faults []error

func (f *faults) required(path, text string) {
	*f = append(*f, fmt.Errorf("%s: Required value: %s", path, text))
}

// invalid includes value in the error, so callers must redact secrets.
func (f *faults) invalid(path string, value any, text string) {
	*f = append(*f, fmt.Errorf("%s: Invalid value: %#v: %s", path, value, text))
}

// Parse decodes an EncryptionConfiguration in YAML or JSON. The error lists all faults with their
// field paths, without secrets. An empty file is an error, because without rules secrets would be
// stored unencrypted.
func Parse(text []byte, naming Naming) (*Configuration, error) {
	if len(text) == 0 {
		return nil, errors.New("the file is empty")
	}
	var file configFile
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, withoutValues(err)
	}
	var f faults
	if file.APIVersion != naming.APIVersion {
		f.invalid("apiVersion", file.APIVersion, fmt.Sprintf("must be %q", naming.APIVersion))
	}
	if file.Kind != "EncryptionConfiguration" {
		f.invalid("kind", file.Kind, `must be "EncryptionConfiguration"`)
	}
	if len(file.Resources) == 0 {
		f.required("resources", "at least one resources is required")
	}
	plugins := map[string]bool{}
	for i := range file.Resources {
		path, r := fmt.Sprintf("resources[%d]", i), &file.Resources[i]
		f.checkResources(path+".resources", r.Resources, naming)
		f.checkProviders(path+".providers", r.Providers, plugins)
	}
	f.checkMasked(file.Resources)
	if len(f) > 0 {
		return nil, errors.Join(f...)
	}
	return newConfiguration(text, file), nil
}

// withoutValues removes quoted file content from a decoding error, because it may contain secrets.
func withoutValues(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: must not be a %s", wrong.Field, strings.Fields(wrong.Value)[0])
	}
	text := err.Error()
	if strings.Contains(text, "unknown field") || strings.Contains(text, "already set in map") {
		return err
	}
	return errors.New("it is not valid YAML of an EncryptionConfiguration")
}

func newConfiguration(text []byte, file configFile) *Configuration {
	c := &Configuration{hash: fmt.Sprintf("sha256:%x", sha256.Sum256(text))}
	for _, r := range file.Resources {
		next := rule{providers: r.Providers}
		for _, name := range r.Resources {
			next.resources = append(next.resources, parseGroupResource(name))
		}
		c.rules = append(c.rules, next)
	}
	return c
}

func (f *faults) checkResources(path string, names []string, naming Naming) {
	if len(names) == 0 {
		f.required(path, "at least one "+path+" is required")
	}
	seen := map[groupResource]bool{}
	for i, name := range names {
		at, g := fmt.Sprintf("%s[%d]", path, i), parseGroupResource(name)
		switch {
		case strings.ToLower(name) != name:
			f.invalid(at, name, "resource name should not contain capital letters")
		case name == "*":
			f.invalid(at, name, "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources")
		case g.resource == "":
			f.invalid(at, name, "a resource must have a name")
		case g.group == naming.EventsGroup:
			f.invalid(at, name, "events of this group are stored as those of the core group: use 'events' instead")
		case g.group == "extensions":
			f.invalid(at, name, "'extensions' group has been removed and cannot be used for encryption")
		case g.group == "*" && g.resource != "*":
			f.invalid(at, name, "encrypting the same resource across groups is not supported")
		}
		// The error shows the whole list, because either duplicate may be the wrong one.
		if seen[g] {
			f.invalid(path, names, "the same resource cannot be specified multiple times")
		}
		seen[g] = true
	}
	for g := range seen {
		if g.resource != "*" && (seen[groupResource{g.group, "*"}] || seen[anyResource]) || g != anyResource && seen[anyResource] {
			f.invalid(path, names, "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked")
			return
		}
	}
}

var anyResource = groupResource{"*", "*"}

// checkMasked rejects a rule for resources that an earlier rule already covers.
func (f *faults) checkMasked(rules []resourceFile) {
	earlier := map[groupResource]bool{}
	for i, r := range rules {
		for j, name := range r.Resources {
			g := parseGroupResource(name)
			for _, mask := range []groupResource{{g.group, "*"}, anyResource} {
				if earlier[mask] {
					f.invalid(fmt.Sprintf("resources[%d].resources[%d]", i, j), name, fmt.Sprintf("resource %q is masked by earlier rule %q", g, mask))
					break
				}
			}
		}
		for _, name := range r.Resources {
			earlier[parseGroupResource(name)] = true
		}
	}
}

// checkProviders validates providers and decodes their secrets. plugins collects the names of all
// KMS plugins. They must be unique, because stored values name their plugin.
func (f *faults) checkProviders(path string, providers []providerConfig, plugins map[string]bool) {
	if len(providers) == 0 {
		f.required(path, "at least one "+path+" is required")
	}
	for i := range providers {
		at, p := fmt.Sprintf("%s[%d]", path, i), &providers[i]
		n := 0
		for _, there := range []bool{p.AESGCM != nil, p.AESCBC != nil, p.Secretbox != nil, p.Identity != nil, p.KMS != nil} {
			if there {
				n++
			}
		}
		switch {
		case n == 0:
			f.required(at, "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity")
		case n > 1:
			f.required(at, "more than one provider specified in a single element, should split into different list elements")
		case p.AESGCM != nil:
			f.checkKeys(at+".aesgcm.keys", p.AESGCM.Keys, 16, 24, 32)
		case p.AESCBC != nil:
			f.checkKeys(at+".aescbc.keys", p.AESCBC.Keys, 16, 24, 32)
		case p.Secretbox != nil:
			f.checkKeys(at+".secretbox.keys", p.Secretbox.Keys, 32)
		case p.KMS != nil:
			f.checkKMS(at+".kms", p.KMS, plugins)
		}
	}
}

// checkKeys validates the keys of one provider, decodes their secrets and discards the encoded
// text. lengths lists the allowed lengths of a secret in bytes. A shorter secret would be weak even
// though keys are derived from it.
func (f *faults) checkKeys(path string, keys []keyFile, lengths ...int) {
	if len(keys) == 0 {
		f.required(path, "at least one keys is required")
	}
	for i := range keys {
		at, key := fmt.Sprintf("%s[%d]", path, i), &keys[i]
		if key.Name == "" {
			f.required(at+".name", "name is a mandatory field for a key")
		}
		if key.Secret == "" {
			f.required(at+".secret", "secret is a mandatory field for a key")
			continue
		}
		secret, err := base64.StdEncoding.DecodeString(key.Secret)
		switch {
		case err != nil:
			f.invalid(at+".secret", "REDACTED", "secrets must be base64 encoded")
		case !slices.Contains(lengths, len(secret)):
			f.invalid(at+".secret", "REDACTED", fmt.Sprintf("secret is not of the expected length, got %d, expected one of %v", len(secret), lengths))
		}
		key.secret, key.Secret = secret, ""
	}
}

// checkKMS validates a KMS plugin and sets its default timeout. Names must not contain a colon,
// which ends the name in stored values. The plugin need not be running.
func (f *faults) checkKMS(path string, k *kmsFile, plugins map[string]bool) {
	switch {
	case k.Name == "":
		f.required(path+".name", "name is a mandatory field for a provider")
	case strings.Contains(k.Name, ":"):
		f.invalid(path+".name", k.Name, fmt.Sprintf("invalid KMS provider name %s, must not contain ':'", k.Name))
	case plugins[k.Name]:
		f.invalid(path+".name", k.Name, fmt.Sprintf("duplicate KMS provider name %s, names must be unique", k.Name))
	}
	plugins[k.Name] = true
	if k.Timeout == nil {
		timeout := duration(defaultTimeout)
		k.Timeout = &timeout
	}
	if *k.Timeout <= 0 {
		f.invalid(path+".timeout", time.Duration(*k.Timeout).String(), "timeout should be a positive value")
	}
	if u, err := url.Parse(k.Endpoint); k.Endpoint == "" {
		f.required(path+".endpoint", "endpoint is a mandatory field for a kms")
	} else if err != nil {
		f.invalid(path+".endpoint", k.Endpoint, fmt.Sprintf("invalid endpoint for kms provider, error: %v", err))
	} else if u.Scheme != "unix" {
		f.invalid(path+".endpoint", k.Endpoint, fmt.Sprintf("unsupported scheme %q for KMS provider, only unix is supported", u.Scheme))
	}
	switch k.APIVersion {
	case "v2":
		if k.CacheSize != nil {
			f.invalid(path+".cachesize", *k.CacheSize, "cachesize is not supported in v2")
		}
	case "v1", "":
		f.invalid(path+".apiVersion", k.APIVersion, "KMS v1, the default apiVersion, is not supported: use v2")
	default:
		f.invalid(path+".apiVersion", k.APIVersion, "unsupported apiVersion for KMS provider, only v2 is supported")
	}
}
