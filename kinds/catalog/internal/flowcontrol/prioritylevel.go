package flowcontrol

import (
	"fmt"
	"maps"
	"math"

	"github.com/troupe-api/troupe/kinds/catalog/flowcontrol"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	// The values of spec.type. An exempt level serves every request at once; a limited one only as many as it has
	// seats for.
	typeExempt  = "Exempt"
	typeLimited = "Limited"
)

// validatePriorityLevel leaves what concerns one field alone to the declaration. What is left are the rules between
// fields. fixed holds the specs of the mandatory levels by their names.
//
// The name exempt and the type Exempt go together in both directions. Another exempt level would be a way around all
// limits, and a level named exempt that is limited could keep administrators out of a server that is overloaded.
func validatePriorityLevel(obj tree.Tree, fixed map[string]tree.Tree, faults *schema.Faults) {
	spec, name := obj.Object("spec"), obj.Object("metadata").String("name")
	kind := spec.String("type")
	if (name == flowcontrol.Exempt) != (kind == typeExempt) {
		faults.Invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'")
	}
	switch kind {
	case typeExempt:
		if spec.Has("limited") {
			faults.Forbidden("spec.limited", "must be nil if the type is not Limited")
		}
	case typeLimited:
		validateLimited(spec, faults)
	default:
		faults.NotSupported("spec.type", kind, []string{typeExempt, typeLimited})
	}
	if want, ok := fixed[name]; ok {
		validateFixedLevel(spec, want, name, faults)
	}
}

// validateLimited checks a level that has a limit: its queues are described if and only if it queues what it has no
// seat for. The messages say Limited where they mean the type Queue, as clients know them.
func validateLimited(spec tree.Tree, faults *schema.Faults) {
	if spec.Has("exempt") {
		faults.Forbidden("spec.exempt", "must be nil if the type is Limited")
	}
	if !spec.Has("limited") {
		faults.Required("spec.limited", "must not be empty when type is Limited")
		return
	}
	const path = "spec.limited.limitResponse.queuing"
	response := spec.Object("limited", "limitResponse")
	switch response.String("type") {
	case "Reject":
		if response.Has("queuing") {
			faults.Forbidden(path, "must be nil if limited.limitResponse.type is not Limited")
		}
	case "Queue":
		if response.Has("queuing") {
			validateQueuing(response.Object("queuing"), path, faults)
		} else {
			faults.Required(path, "must not be empty if limited.limitResponse.type is Limited")
		}
	case "":
		if len(response) == 0 { // else the declaration tells it
			faults.NotSupported("spec.limited.limitResponse.type", "", []string{"Queue", "Reject"})
		}
	}
}

// Bounds of queues: the number of them, and the bits of the hash by which a flow finds its own.
const (
	// A hand of h out of n queues takes about h*log2(n) bits of a hash of 64. With more than maxHashBits of them the
	// last queues of a hand would follow from the first ones, and flows would share more queues than they should.
	maxQueues   = 10_000_000
	maxHashBits = 60
)

// validateQueuing checks the queues of a level. A flow cannot have more queues than there are, and one that has all
// of them would no longer be kept apart from any other; only the first is a fault, since small levels may want the
// second.
func validateQueuing(queuing tree.Tree, path string, faults *schema.Faults) {
	if length, _ := queuing.Int("queueLengthLimit"); length <= 0 {
		faults.Invalid(path+".queueLengthLimit", length, "must be positive")
	}
	queues, _ := queuing.Int("queues")
	if queues <= 0 {
		faults.Invalid(path+".queues", queues, "must be positive")
	} else if queues > maxQueues {
		faults.Invalid(path+".queues", queues, fmt.Sprintf("must not be greater than %d", maxQueues))
	}
	hand, _ := queuing.Int("handSize")
	switch {
	case hand <= 0:
		faults.Invalid(path+".handSize", hand, "must be positive")
	case hand > queues:
		faults.Invalid(path+".handSize", hand, fmt.Sprintf("should not be greater than queues (%d)", queues))
	// Not reached without queues: any hand is larger than none.
	case math.Ceil(math.Log2(float64(queues))*float64(hand)) > maxHashBits:
		faults.Invalid(path+".handSize", hand, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, hand, maxHashBits))
	}
}

// validateFixedLevel lets operators say what the exempt level has and lends, and nothing else of the fixed ones. The
// fields of exempt are taken out of the comparison on a copy, as the object itself is what will be stored.
func validateFixedLevel(spec, want tree.Tree, name string, faults *schema.Faults) {
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
