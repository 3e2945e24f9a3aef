package podsecurity

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Configuration is the PodSecurityConfiguration from the admission configuration file. The zero
// value restricts only namespaces with labels.
type Configuration struct {
	Defaults   Policy // for namespaces without labels
	Exemptions Exemptions
}

// Exemptions excludes requests from all policies. Usernames apply to the client that writes the
// Pod. Exempting a controller would exempt the Pods of all its workloads.
type Exemptions struct{ Usernames, Namespaces, RuntimeClasses []string }

func (e Exemptions) any() bool { return len(e.Usernames)+len(e.Namespaces)+len(e.RuntimeClasses) > 0 }

// configGroup is the API group of the configuration without the domain.
const configGroup = "pod-security.admission.config"

// The configuration versions have identical fields.
var configVersions = []string{"v1", "v1beta1", "v1alpha1"}

// ParseConfiguration parses a PodSecurityConfiguration in YAML or JSON. For empty text, it returns
// the default. The error joins all faults with their field paths.
func ParseConfiguration(text []byte, naming *meta.Naming) (Configuration, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return Configuration{}, nil
	}
	object, err := codec.DecodeConfigFile(text)
	if err != nil {
		return Configuration{}, err
	}
	if object == nil {
		return Configuration{}, errors.New("a PodSecurityConfiguration must be a map")
	}
	return ReadConfiguration(object, naming)
}

// ReadConfiguration reads a decoded PodSecurityConfiguration.
func ReadConfiguration(t tree.Tree, naming *meta.Naming) (Configuration, error) {
	r := &configReader{}
	r.checkFields(t, "", "apiVersion", "kind", "defaults", "exemptions")
	var supported []string
	for _, version := range configVersions {
		supported = append(supported, naming.Group(configGroup)+"/"+version)
	}
	if have := r.text(t, "", "apiVersion"); !slices.Contains(supported, have) {
		r.NotSupported("apiVersion", have, supported)
	}
	if kind := r.text(t, "", "kind"); kind != "PodSecurityConfiguration" {
		r.NotSupported("kind", kind, []string{"PodSecurityConfiguration"})
	}
	c := Configuration{Defaults: r.defaults(r.object(t, "defaults")), Exemptions: r.exemptions(r.object(t, "exemptions"))}
	return c, r.error()
}

// A configReader collects all faults of a configuration, so that operators see them at once.
type configReader struct{ schema.Faults }

func (r *configReader) error() error {
	var errs []error
	for _, f := range r.List {
		errs = append(errs, fmt.Errorf("%s: %s", f.Field, f.Message))
	}
	return errors.Join(errs...)
}

// defaults parses the default policy. Missing fields mean level privileged at the latest version.
func (r *configReader) defaults(t tree.Tree) (p Policy) {
	const path = "defaults"
	r.checkFields(t, path, "enforce", "enforce-version", "audit", "audit-version", "warn", "warn-version")
	p.Enforce = r.levelVersion(t, path, "enforce")
	p.Audit = r.levelVersion(t, path, "audit")
	p.Warn = r.levelVersion(t, path, "warn")
	return p
}

func (r *configReader) levelVersion(t tree.Tree, path, mode string) (lv LevelVersion) {
	var err error
	if text := r.text(t, path, mode); text != "" {
		if lv.Level, err = ParseLevel(text); err != nil {
			r.Invalid(tree.FieldPath(path, mode), text, err.Error())
		}
	}
	if text := r.text(t, path, mode+"-version"); text != "" {
		if lv.Version, err = ParseVersion(text); err != nil {
			r.Invalid(tree.FieldPath(path, mode+"-version"), text, err.Error())
		}
	}
	return lv
}

func (r *configReader) exemptions(t tree.Tree) (e Exemptions) {
	const path = "exemptions"
	r.checkFields(t, path, "usernames", "namespaces", "runtimeClasses")
	e.Usernames = r.names(t, path, "usernames", func(name string) []string {
		if name == "" {
			return []string{"username must not be empty"}
		}
		return nil
	})
	e.Namespaces = r.names(t, path, "namespaces", rules.Label)
	e.RuntimeClasses = r.names(t, path, "runtimeClasses", rules.Subdomain)
	return e
}

func (r *configReader) names(t tree.Tree, path, field string, check func(string) []string) (names []string) {
	path = tree.FieldPath(path, field)
	list, ok := t[field].([]any)
	if !ok && t.Has(field) {
		r.Invalid(path, t[field], "must be a list")
	}
	for i, item := range list {
		at := tree.IndexPath(path, i)
		name, ok := item.(string)
		if !ok {
			r.Invalid(at, item, "must be a string")
			continue
		}
		switch faults := check(name); {
		case len(faults) > 0:
			r.Invalid(at, name, strings.Join(faults, ", "))
		case slices.Contains(names, name):
			r.Duplicate(at, name)
		default:
			names = append(names, name)
		}
	}
	return names
}

func (r *configReader) object(t tree.Tree, name string) tree.Tree {
	object, ok := t[name].(tree.Tree)
	if !ok && t.Has(name) {
		r.Invalid(name, t[name], "must be a map")
	}
	return object
}

func (r *configReader) text(t tree.Tree, path, name string) string {
	text, ok := t[name].(string)
	if !ok && t.Has(name) {
		r.Invalid(tree.FieldPath(path, name), t[name], "must be a string")
	}
	return text
}

// checkFields rejects unknown fields, because a mistyped exemption or level would otherwise go
// unnoticed.
func (r *configReader) checkFields(t tree.Tree, path string, names ...string) {
	for _, name := range t.SortedKeys() {
		if !slices.Contains(names, name) {
			r.Report(meta.CauseForbidden, tree.FieldPath(path, name), "unknown field", "")
		}
	}
}
