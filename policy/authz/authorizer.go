package authz

type Decision uint8

// After NoOpinion or Failed, the next authorizer is tried. Failed means that the mode could not
// decide, for example because a remote service did not respond.
const (
	NoOpinion Decision = iota
	Allow
	Deny
	Failed
)

// An Authorizer is one authorization mode. It must be safe for concurrent use. reason is a brief
// explanation of the decision, and may be empty.
type Authorizer interface {
	Authorize(a Attributes) (d Decision, reason string)
}

// Union returns an Authorizer that tries modes in order until one allows or denies. If none does,
// reason combines the reasons of all modes. The decision is then Failed if any mode failed.
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
