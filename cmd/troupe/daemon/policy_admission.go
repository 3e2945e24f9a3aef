package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/admission"
)

// Admission says which admission plugins run. Flags and their names are those of the API server that
// clients know, so its configurations can be taken over.
type Admission struct {
	Enable  []string `flag:"enable-admission-plugins"`
	Disable []string `flag:"disable-admission-plugins"`
	// DefaultNotReadyTolerationSeconds and DefaultUnreachableTolerationSeconds are how long Pods stay on a node
	// that is not ready, or not reachable, unless they say it themselves.
	DefaultNotReadyTolerationSeconds    int64 `flag:"default-not-ready-toleration-seconds"`
	DefaultUnreachableTolerationSeconds int64 `flag:"default-unreachable-toleration-seconds"`
	// Control, if there are any, are all that run. It is deprecated.
	Control []string `flag:"admission-control"`
	// ConfigFile configures plugins.
	ConfigFile string `flag:"admission-control-config-file"`
	// ServiceResolver has addresses of Services with webhooks, as in name.namespace=host:port.
	ServiceResolver []string `flag:"webhook-service-resolver"`
}

// The older setting names all that run, and the newer ones differences from the default; together they have
// no meaning.
func (a Admission) validate(f *faults) {
	check := func(key string, names, others []string) {
		for _, name := range names {
			f.check(slices.Contains(admission.Names(), name), key, fmt.Sprintf("%q is none of %s", name, strings.Join(admission.Names(), ", ")))
			f.check(!slices.Contains(others, name), key, fmt.Sprintf("%q is both enabled and disabled", name))
		}
	}
	check("enable-admission-plugins", a.Enable, nil)
	check("disable-admission-plugins", a.Disable, a.Enable)
	check("admission-control", a.Control, nil)
	f.check(len(a.Control) == 0 || len(a.Enable)+len(a.Disable) == 0, "admission-control", "admission-control and enable-admission-plugins/disable-admission-plugins are mutually exclusive")
	_, err := parseServiceAddresses(a.ServiceResolver)
	f.checkError("webhook-service-resolver", err)
}

// The order in which plugins run does not follow that of the settings; package admission knows it.
func (a Admission) switches() admission.PluginConfig {
	return admission.PluginConfig{Enabled: a.Enable, Disabled: a.Disable, Only: a.Control}
}
