package reconcile

import "github.com/troupe-api/troupe/kinds/tree"

// Taint is a node taint. It repels Pods that do not tolerate it.
type Taint struct{ Key, Value, Effect string }

// ReadTaint decodes a node taint.
func ReadTaint(t tree.Tree) Taint {
	return Taint{t.String("key"), t.String("value"), t.String("effect")}
}

// ToleratedBy reports whether a toleration matches the taint. An empty effect matches all effects.
// An empty key with operator Exists matches all taints.
func (t Taint) ToleratedBy(toleration tree.Tree) bool {
	if effect := toleration.String("effect"); effect != "" && effect != t.Effect {
		return false
	}
	if key := toleration.String("key"); key != "" && key != t.Key {
		return false
	}
	switch toleration.String("operator") {
	case "Exists":
		return true
	case "", "Equal":
		return toleration.String("key") == t.Key && toleration.String("value") == t.Value
	}
	return false
}
