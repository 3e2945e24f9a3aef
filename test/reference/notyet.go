package reference

// rulesInCEL is what the cases of notYet wait for.
const rulesInCEL = "rules in CEL are not evaluated yet"

// notYet lists the cases that need something that is not served yet, and what it is.
var notYet = map[string]string{
	"crd/bad-cel":         rulesInCEL,
	"crd/transition-rule": rulesInCEL,
}
