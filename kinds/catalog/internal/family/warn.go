package family

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// AlwaysWarns is the DefaultStrategy of kinds that also warn about writes that change nothing.
type AlwaysWarns struct{ schema.DefaultStrategy }

// WarnsOnNoOp returns true.
func (AlwaysWarns) WarnsOnNoOp() bool { return true }
