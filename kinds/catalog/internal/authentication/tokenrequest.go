package authentication

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The bounds of the lifetime of a token, in seconds.
const (
	minTokenSeconds = 600
	maxTokenSeconds = 1 << 32
)

type tokenRequestStrategy struct{ schema.DefaultStrategy }

func (tokenRequestStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	ValidateTokenSeconds(obj.Object("spec"), "spec", faults)
}

// ValidateTokenSeconds checks the field expirationSeconds, if it is set, of an object at path.
//
// Ten minutes is the least with which a client can renew a token in time, and 2^32 s is about 136 years: beyond that
// arithmetic on times may overflow.
func ValidateTokenSeconds(t tree.Tree, path string, faults *schema.Faults) {
	path += ".expirationSeconds"
	switch n, ok := t.Int("expirationSeconds"); {
	case ok && n < minTokenSeconds:
		faults.Invalid(path, n, "may not specify a duration less than 10 minutes")
	case ok && n > maxTokenSeconds:
		faults.Invalid(path, n, "may not specify a duration larger than 2^32 seconds")
	}
}
