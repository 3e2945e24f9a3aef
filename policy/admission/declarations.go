package admission

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/internal/embedded"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
)

//go:embed plugins.json
var pluginTable []byte

// A declaration is an entry of the table, which describes the fields.
type declaration struct {
	Name, Stage                 string
	Default, Always, SkipsNoOps bool
	Resources, Operations       []string
}

var declarations = sync.OnceValue(func() (all []declaration) {
	embedded.Decode(pluginTable, &all)
	return all
})

// Register returns the registration of a plugin in the table. plugin is a Mutator, a Validator or
// both.
func Register(name string, plugin any, caches ...policy.Follower) Registration {
	d := declarations()[position(name)]
	r := Registration{Name: name, Resources: d.Resources, Caches: caches, Plugin: request.Plugin{
		SkipsNoOps: d.SkipsNoOps, Stage: map[string]request.Stage{"mayBlock": request.MayBlock, "last": request.Last}[d.Stage],
	}}
	if d.Always {
		r.Name = ""
	}
	for _, o := range d.Operations {
		r.Operations |= map[string]request.Operation{"create": request.OnCreate, "update": request.OnUpdate, "delete": request.OnDelete}[o]
	}
	r.Mutator, _ = plugin.(request.Mutator)
	r.Validator, _ = plugin.(request.Validator)
	return r
}

// inherentPlugins lists plugins whose checks the store always makes: it creates nothing in missing
// or terminating namespaces, and keeps system namespaces.
var inherentPlugins = []string{"NamespaceLifecycle", "NamespaceExists"}

// Names returns all plugin names, sorted.
func Names() []string { return namesOf(func(d declaration) bool { return !d.Always }) }

// Defaults returns the plugins that are enabled by default, sorted.
func Defaults() []string { return namesOf(func(d declaration) bool { return d.Default }) }

func namesOf(which func(declaration) bool) (names []string) {
	for _, d := range declarations() {
		if which(d) {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names
}

// position returns the execution order of a plugin; -1, the first, for one without a name.
func position(name string) int {
	return slices.IndexFunc(declarations(), func(d declaration) bool { return d.Name == name })
}

// PluginConfig enables plugins by name.
type PluginConfig struct {
	// Enabled plugins run in addition to the default ones; Disabled ones do not.
	Enabled, Disabled []string
	// Only, if not empty, lists all plugins that run.
	Only []string
}

// Runs reports whether a plugin runs. One without a name always does.
func (c PluginConfig) Runs(name string) bool {
	if name != "" && len(c.Only) > 0 {
		return slices.Contains(c.Only, name)
	}
	if name == "" || slices.Contains(c.Enabled, name) && !slices.Contains(c.Disabled, name) {
		return true
	}
	i := position(name)
	return i >= 0 && declarations()[i].Default && !slices.Contains(c.Disabled, name)
}

// AlwaysEffective returns the disabled plugins whose checks are always made.
func (c PluginConfig) AlwaysEffective() []string {
	return slices.DeleteFunc(slices.Clone(c.Disabled), func(name string) bool { return !slices.Contains(inherentPlugins, name) })
}

// Ineffective returns the named plugins without a Registration, except inherent ones.
func (c PluginConfig) Ineffective(all []Registration) []string {
	var names []string
	for _, name := range slices.Concat(c.Enabled, c.Disabled, c.Only) {
		if !slices.Contains(inherentPlugins, name) && !slices.ContainsFunc(all, func(r Registration) bool { return r.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}
