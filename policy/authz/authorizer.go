package authz

// A Decision is the answer of an Authorizer.
type Decision uint8

// The decisions. NoOpinion leaves the request to the next authorizer.
const (
	NoOpinion Decision = iota
	Allow
	Deny
)

// An Authorizer is one mode of deciding. reason explains the decision in a few words, or
// is "". It is called by many goroutines at a time.
type Authorizer interface {
	Authorize(a Attributes) (d Decision, reason string)
}

// Union asks modes in the order given; the first that has an opinion decides. If none has
// one it returns their reasons.
func Union(modes ...Authorizer) Authorizer { return union(modes) }

type union []Authorizer

func (modes union) Authorize(a Attributes) (Decision, string) {
	reasons := ""
	for _, m := range modes {
		d, reason := m.Authorize(a)
		if d != NoOpinion {
			return d, reason
		}
		if reason != "" && reasons != "" {
			reasons += ", "
		}
		reasons += reason
	}
	return NoOpinion, reasons
}
