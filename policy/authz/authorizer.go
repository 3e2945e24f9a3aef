package authz

// A Decision is the answer of an Authorizer.
type Decision uint8

// The decisions. NoOpinion leaves the request to the next authorizer, and so does Failed: the
// mode could not find out, and its reason is why.
const (
	NoOpinion Decision = iota
	Allow
	Deny
	Failed
)

// An Authorizer is one mode of deciding. reason explains the decision in a few words, or
// is "". It is called by many goroutines at a time.
type Authorizer interface {
	Authorize(a Attributes) (d Decision, reason string)
}

// Union asks modes in the order given; the first that has an opinion decides. If none has
// one it returns their reasons, and Failed if a mode has failed.
func Union(modes ...Authorizer) Authorizer { return union(modes) }

type union []Authorizer

func (modes union) Authorize(a Attributes) (Decision, string) {
	reasons, last := "", NoOpinion
	for _, m := range modes {
		d, reason := m.Authorize(a)
		switch d {
		case Allow, Deny:
			return d, reason
		case Failed:
			last = Failed
		}
		if reason != "" && reasons != "" {
			reasons += ", "
		}
		reasons += reason
	}
	return last, reasons
}
