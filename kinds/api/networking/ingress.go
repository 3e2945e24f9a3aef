package networking

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type ingressStrategy struct{ schema.DefaultStrategy }

func (ingressStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"loadBalancer": tree.Tree{}}
	}
}
