package flowcontrol

import (
	"fmt"
	"maps"
	"math"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxHashBits limits how many bits of a 64-bit hash are used to deal a hand. Dealing h of n queues
// uses about h*log2(n) bits. With more bits, the last queues of a hand would depend on the first
// ones, and flows would share too many queues.
const maxHashBits = 60

func validateHandSize(queuing tree.Tree, path string, faults *schema.Faults) {
	queues, _ := queuing.Int("queues")
	hand, _ := queuing.Int("handSize")
	if math.Ceil(math.Log2(float64(queues))*float64(hand)) > maxHashBits {
		faults.Invalid(path+".handSize", hand, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, hand, maxHashBits))
	}
}

func (f fixedSpecs) validateLevel(obj tree.Tree, _ string, faults *schema.Faults) {
	spec, name := obj.Object("spec"), obj.Name()
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
