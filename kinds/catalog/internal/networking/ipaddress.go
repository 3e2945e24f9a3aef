package networking

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ipAddressStrategy is that of the addresses that Services have, and of those that others take.
type ipAddressStrategy struct{ schema.DefaultStrategy }

// Validate checks an allocated address: the name of the object is the address.
//
// Only the canonical form is a name, as in "2001:db8::1". With a second spelling one address could be taken twice,
// since uniqueness is that of the name.
func (ipAddressStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	if name := obj.Object("metadata").String("name"); name != "" {
		for _, msg := range rules.CanonicalIP(name) {
			faults.Invalid("metadata.name", name, msg)
		}
	}
}
