package flowcontrol

import (
	"fmt"
	"maps"
	"math"

	"github.com/troupe-api/troupe/kinds/catalog/flowcontrol"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A hand of h out of n queues takes about h*log2(n) bits of a hash of 64. With more than
// maxHashBits of them the last queues of a hand would follow from the first ones, and flows would
// share more queues than they should.
const maxHashBits = 60

// validateHandSize checks the size of a hand, which is positive and at most the number of queues.
func validateHandSize(queuing tree.Tree, path string, faults *schema.Faults) {
	queues, _ := queuing.Int("queues")
	hand, _ := queuing.Int("handSize")
	if math.Ceil(math.Log2(float64(queues))*float64(hand)) > maxHashBits {
		faults.Invalid(path+".handSize", hand, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, hand, maxHashBits))
	}
}

// validateLevel lets operators say what the exempt level has and lends, and nothing else of the
// fixed ones. The fields of exempt are taken out of the comparison on a copy, as the object itself
// is what will be stored.
func (f fixedSpecs) validateLevel(obj tree.Tree, _ string, faults *schema.Faults) {
	spec, name := obj.Object("spec"), obj.Object("metadata").String("name")
	want, ok := f[name]
	if !ok {
		return
	}
	have, msg := spec, "spec of '%s' must equal the fixed value"
	if name == flowcontrol.Exempt {
		have, msg = tree.Tree{}, "spec of '%s' except the 'spec.exempt' field must equal the fixed value"
		maps.Copy(have, spec)
		have["exempt"] = want["exempt"]
	}
	if !tree.SemanticEqual(have, want) {
		faults.Invalid("spec", spec, fmt.Sprintf(msg, name))
	}
}
