package authz

type Decision uint8

// NoOpinion and Failed leave the request to the next authorizer. Failed means that the mode could
// not decide, for its reason.
const (
	NoOpinion Decision = iota
	Allow
	Deny
	Failed
)

// An Authorizer is one authorization mode, safe for concurrent use. reason explains the decision
// briefly and may be "".
type Authorizer interface {
	Authorize(a Attributes) (d Decision, reason string)
}

// Union returns the first decision of modes, in order. If no mode decides, it returns their
// reasons, and Failed if one of them failed.
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
