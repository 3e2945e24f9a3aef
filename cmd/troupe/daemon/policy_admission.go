package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/admission"
)

// Admission configures the admission plugins. Flag and plugin names match kube-apiserver's.
type Admission struct {
	Enable  []string `flag:"enable-admission-plugins"`
	Disable []string `flag:"disable-admission-plugins"`
	// DefaultNotReadyTolerationSeconds and DefaultUnreachableTolerationSeconds apply to Pods
	// without such tolerations.
	DefaultNotReadyTolerationSeconds    int64 `flag:"default-not-ready-toleration-seconds"`
	DefaultUnreachableTolerationSeconds int64 `flag:"default-unreachable-toleration-seconds"`
	// Control lists exactly the plugins that run. If empty, Enable and Disable modify the default
	// list. Control is deprecated.
	Control []string `flag:"admission-control"`
	// ConfigFile is the path of an AdmissionConfiguration.
	ConfigFile string `flag:"admission-control-config-file"`
	// ServiceResolver maps webhook Services to addresses, in the form name.namespace=host:port.
	ServiceResolver []string `flag:"webhook-service-resolver"`
}

// validate checks the plugin names and the ServiceResolver entries. It also rejects Control in
// combination with Enable or Disable.
func (a Admission) validate(f *faults) {
	check := func(key string, names, others []string) {
		for _, name := range names {
			f.check(slices.Contains(admission.Names(), name), key, fmt.Sprintf("%q: must be one of %s", name, strings.Join(admission.Names(), ", ")))
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

func (a Admission) switches() admission.PluginConfig {
	return admission.PluginConfig{Enabled: a.Enable, Disabled: a.Disable, Only: a.Control}
}
