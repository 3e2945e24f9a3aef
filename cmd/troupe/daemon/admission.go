package daemon

import (
	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authz"
)

// Admission is what has a say in changes.
type Admission struct {
	Enable  []string `json:"enable"`
	Disable []string `json:"disable"`
}

func (a *Admission) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&a.Enable, "enable-admission-plugins", a.Enable, "Admission plugins to run beside those that run by themselves; the order does not matter.")
	f.StringSliceVar(&a.Disable, "disable-admission-plugins", a.Disable, "Admission plugins not to run: CertificateApproval, CertificateSigning, CertificateSubjectRestriction, StorageObjectInUseProtection, TaintNodesByCondition.")
}

// admit makes the chain of all that has a say in changes.
func (d *Daemon) admit(authorizer authz.Authorizer) (*admission.Chain, error) {
	return admission.New(d.naming, admission.Switches{Enabled: d.config.Admission.Enable, Disabled: d.config.Admission.Disable},
		admission.CertificateRequester(),
		admission.CertificateSubjects(d.naming),
		admission.CertificateApproval(authorizer),
		admission.CertificateSigning(authorizer),
		admission.InUseProtection(d.naming),
		admission.NewNodeTaint(d.naming),
	)
}
