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

// A declaration is an entry of plugins.yaml, which documents the fields.
type declaration struct {
	Name, Stage                 string
	Default, Always, SkipsNoOps bool
	Resources, Operations       []string
}

var declarations = sync.OnceValue(func() (all []declaration) {
	embedded.Decode(pluginTable, &all)
	return all
})

// Register returns the registration of a plugin declared in plugins.yaml. plugin is a Mutator, a
// Validator or both.
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

// inherentPlugins lists plugins whose checks the store always performs. The store rejects new
// objects in missing or terminating namespaces and protects system namespaces.
var inherentPlugins = []string{"NamespaceLifecycle", "NamespaceExists"}

// Names returns the sorted names of all plugins that can be disabled.
func Names() []string { return namesOf(func(d declaration) bool { return !d.Always }) }

// Defaults returns the sorted names of the plugins enabled by default.
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

func position(name string) int {
	return slices.IndexFunc(declarations(), func(d declaration) bool { return d.Name == name })
}

// PluginConfig enables and disables plugins by name.
type PluginConfig struct {
	// Enabled plugins run in addition to the default ones. Disabled plugins do not run.
	Enabled, Disabled []string
	// Only, if not empty, lists the only plugins that run.
	Only []string
}

// Runs reports whether a plugin runs. A plugin without a name always runs.
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

// AlwaysEffective returns the disabled plugins whose checks the store performs anyway.
func (c PluginConfig) AlwaysEffective() []string {
	return slices.DeleteFunc(slices.Clone(c.Disabled), func(name string) bool { return !slices.Contains(inherentPlugins, name) })
}

// Ineffective returns the configured plugins that neither have a Registration nor are inherent.
func (c PluginConfig) Ineffective(all []Registration) []string {
	var names []string
	for _, name := range slices.Concat(c.Enabled, c.Disabled, c.Only) {
		if !slices.Contains(inherentPlugins, name) && !slices.ContainsFunc(all, func(r Registration) bool { return r.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}
