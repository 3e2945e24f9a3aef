package daemon

import "github.com/spf13/pflag"

// Namespaces is how they are deleted.
type Namespaces struct {
	// DeletionGracePeriod is how long a namespace that is being deleted is left as it is before it is emptied.
	DeletionGracePeriod Duration `json:"deletionGracePeriod"`
}

// flags binds the section.
func (n *Namespaces) flags(f *pflag.FlagSet) {
	f.Var(&n.DeletionGracePeriod, "namespace-deletion-grace-period", "How long a namespace that is being deleted is left as it is before it is emptied.")
}

func (n Namespaces) validate(f *faults) {
	f.check(n.DeletionGracePeriod >= 0, "namespaces.deletionGracePeriod", "must not be below 0")
}
