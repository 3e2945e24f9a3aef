package flowcontrol

import (
	"fmt"
	"maps"
	"math"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxHashBits bounds the bits of a 64-bit hash that dealing a hand takes: about h*log2(n) for h of
// n queues. With more, the last queues of a hand would depend on the first, and flows would share
// too many queues.
const maxHashBits = 60

func validateHandSize(queuing tree.Tree, path string, faults *schema.Faults) {
	queues, _ := queuing.Int("queues")
	hand, _ := queuing.Int("handSize")
	if math.Ceil(math.Log2(float64(queues))*float64(hand)) > maxHashBits {
		faults.Invalid(path+".handSize", hand, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, hand, maxHashBits))
	}
}

// validateLevel lets operators change only the exempt field of the exempt level, and nothing of the
// other fixed ones. It compares a copy without that field.
func (f fixedSpecs) validateLevel(obj tree.Tree, _ string, faults *schema.Faults) {
	spec, name := obj.Object("spec"), obj.Object("metadata").String("name")
	want, ok := f[name]
	if !ok {
		return
	}
	have, msg := spec, "spec of '%s' must equal the fixed value"
	if name == Exempt {
		have, msg = tree.Tree{}, "spec of '%s' except the 'spec.exempt' field must equal the fixed value"
		maps.Copy(have, spec)
		have["exempt"] = want["exempt"]
	}
	if !tree.SemanticEqual(have, want) {
		faults.Invalid("spec", spec, fmt.Sprintf(msg, name))
	}
}
