package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy/admission"
)

// Admission says which admission plugins run. Flags and their names are those of the API server that
// clients know, so its configurations can be taken over.
type Admission struct {
	Enable  []string `json:"enable"`
	Disable []string `json:"disable"`
	// DefaultNotReadyTolerationSeconds and DefaultUnreachableTolerationSeconds are how long Pods stay on a node
	// that is not ready, or not reachable, unless they say it themselves.
	DefaultNotReadyTolerationSeconds    int64 `json:"defaultNotReadyTolerationSeconds"`
	DefaultUnreachableTolerationSeconds int64 `json:"defaultUnreachableTolerationSeconds"`
	// Control, if there are any, are all that run. It is deprecated.
	Control []string `json:"control"`
	// ConfigFile configures plugins.
	ConfigFile string `json:"configFile"`
	// ServiceResolver has addresses of Services with webhooks, as in name.namespace=host:port.
	ServiceResolver []string `json:"serviceResolver"`
}

// The help lists the plugins that there are, as an unknown name keeps the daemon from starting.
func (a *Admission) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&a.Enable, "enable-admission-plugins", a.Enable, "Admission plugins to run beside those that run by themselves; the order does not matter. There are "+strings.Join(admission.Names(), ", ")+". By themselves run "+strings.Join(admission.Defaults(), ", ")+".")
	f.StringSliceVar(&a.Disable, "disable-admission-plugins", a.Disable, "Admission plugins not to run, even if they do by themselves.")
	f.Int64Var(&a.DefaultNotReadyTolerationSeconds, "default-not-ready-toleration-seconds", a.DefaultNotReadyTolerationSeconds, "Seconds that a Pod stays on a node that is not ready, if the Pod does not say it itself.")
	f.Int64Var(&a.DefaultUnreachableTolerationSeconds, "default-unreachable-toleration-seconds", a.DefaultUnreachableTolerationSeconds, "Seconds that a Pod stays on a node that cannot be reached, if the Pod does not say it itself.")
	f.StringSliceVar(&a.Control, "admission-control", a.Control, "Admission plugins to run, and no others.")
	f.Lookup("admission-control").Deprecated = "use --enable-admission-plugins or --disable-admission-plugins instead"
	f.StringVar(&a.ConfigFile, "admission-control-config-file", a.ConfigFile, "File that configures admission plugins, an AdmissionConfiguration.")
	f.StringSliceVar(&a.ServiceResolver, "webhook-service-resolver", a.ServiceResolver, "Where Services with webhooks are reached, as in name.namespace=host:port, several with commas; the others are looked up in the cluster.")
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
	check("admission.enable", a.Enable, nil)
	check("admission.disable", a.Disable, a.Enable)
	check("admission.control", a.Control, nil)
	f.check(len(a.Control) == 0 || len(a.Enable)+len(a.Disable) == 0, "admission.control", "admission-control and enable-admission-plugins/disable-admission-plugins are mutually exclusive")
	if _, err := parseServiceAddresses(a.ServiceResolver); err != nil {
		f.check(false, "admission.serviceResolver", err.Error())
	}
}

// The order in which plugins run does not follow that of the settings; package admission knows it.
func (a Admission) switches() admission.PluginConfig {
	return admission.PluginConfig{Enabled: a.Enable, Disabled: a.Disable, Only: a.Control}
}
