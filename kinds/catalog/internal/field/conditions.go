package field

import (
	"regexp"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Limits of the conditions of a status, in bytes. They are those that the API conventions document for all
// controllers.
const (
	maxReason  = 1024
	maxMessage = 32 << 10
)

const reasonPattern = `[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?`

var reasonRE = regexp.MustCompile("^" + reasonPattern + "$")

// reasonMsg spells the pattern out, with the double space that clients know.
const reasonMsg = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'" +
	" (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '" + reasonPattern + "')"

// Conditions checks the conditions of a status, which are at path. Only kinds whose conditions have the
// common shape use it. Those of Pods and Nodes are older and freer.
func Conditions(status tree.Tree, path string, faults *schema.Faults) {
	for i, c := range status.Objects("conditions") {
		at := tree.IndexPath(path, i)
		QualifiedName(c.String("type"), at+".type", faults)
		if s := c.String("status"); !slices.Contains([]string{"False", "True", "Unknown"}, s) {
			faults.NotSupported(at+".status", s, []string{"False", "True", "Unknown"})
		}
		if n, _ := c.Int("observedGeneration"); n < 0 {
			faults.Invalid(at+".observedGeneration", n, "must be greater than or equal to zero")
		}
		if c.String("lastTransitionTime") == "" {
			faults.Required(at + ".lastTransitionTime")
		}
		validateReason(c.String("reason"), at+".reason", faults)
		if len(c.String("message")) > maxMessage {
			faults.TooLong(at+".message", maxMessage)
		}
	}
}

// validateReason asks for one word, since programs compare reasons; what people read is the message.
func validateReason(reason, path string, faults *schema.Faults) {
	switch {
	case reason == "":
		faults.Required(path)
	case !reasonRE.MatchString(reason):
		faults.Invalid(path, reason, reasonMsg)
	case len(reason) > maxReason:
		faults.TooLong(path, maxReason)
	}
}
