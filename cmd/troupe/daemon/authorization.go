package daemon

import (
	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authz"
)

// Authorization is what those who are let in may do.
type Authorization struct{}

func defaultAuthorization() Authorization { return Authorization{} }

func (a *Authorization) flags(f *pflag.FlagSet) {}

func (a Authorization) validate(*faults) {}

// authorize makes the modes of deciding, in their order.
func (d *Daemon) authorize(policy.Objects) (authz.Authorizer, error) {
	return authz.Union(authz.Masters{}, authz.PublicPaths), nil
}
