package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/node"
)

// Admission says which admission plugins run.
type Admission struct {
	Enable  []string `json:"enable"`
	Disable []string `json:"disable"`
}

func (a *Admission) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&a.Enable, "enable-admission-plugins", a.Enable, "Admission plugins to run beside those that run by themselves; the order does not matter. There are "+strings.Join(plugins(), ", ")+".")
	f.StringSliceVar(&a.Disable, "disable-admission-plugins", a.Disable, "Admission plugins not to run, even if they do by themselves.")
}

func (a Admission) validate(f *faults) {
	check := func(key string, names, others []string) {
		for _, name := range names {
			f.check(slices.Contains(plugins(), name), key, fmt.Sprintf("%q is none of %s", name, strings.Join(plugins(), ", ")))
			f.check(!slices.Contains(others, name), key, fmt.Sprintf("%q is both enabled and disabled", name))
		}
	}
	check("admission.enable", a.Enable, nil)
	check("admission.disable", a.Disable, a.Enable)
}

// plugins are the names by which admission is switched.
func plugins() []string {
	naming, _ := meta.ParseNaming("platform")
	return admission.Names(registrations(naming, nil, nil))
}

// registrations are all admission plugins.
func registrations(naming *meta.Naming, authorizer authz.Authorizer, objects policy.Objects) []admission.Registration {
	return []admission.Registration{
		node.Restriction(naming, objects),
		admission.CertificateRequester(),
		admission.CertificateSubjectRestriction(naming),
		admission.CertificateApproval(authorizer, objects, naming),
		admission.CertificateSigning(authorizer, objects, naming),
		admission.StorageObjectInUseProtection(naming),
		admission.TaintNodesByCondition(naming),
	}
}

// newAdmissionChain makes the chain of all admission plugins, and of more.
func (d *Daemon) newAdmissionChain(authorizer authz.Authorizer, more ...admission.Registration) *admission.Chain {
	switches := admission.PluginConfig{Enabled: d.config.Admission.Enable, Disabled: d.config.Admission.Disable}
	return admission.New(d.naming, switches, append(registrations(d.naming, authorizer, d.objects), more...))
}
