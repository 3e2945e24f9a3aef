package podsecurity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// decideNamespace refuses labels that cannot be read, unless they were there before, and warns of labels
// that count for nothing. What becomes of Pods that are there already is asked in Raises and CheckPods.
// Faults from before may stay so that the namespace can be changed otherwise, and be deleted.
func (a *Admission) decideNamespace(r Request) Decision {
	if r.Subresource != "" {
		return Decision{}
	}
	p, faults := a.labels.policy(labelsOf(r.New), a.config.Defaults)
	if r.isCreate() {
		if len(faults) > 0 {
			return Decision{Faults: faults}
		}
		return a.exemptNamespace(r, p)
	}
	before, old := a.labels.policy(labelsOf(r.Old), a.config.Defaults)
	if len(faults) > 0 && !slices.Equal(faults, old) {
		return Decision{Faults: faults}
	}
	if !raises(before.Enforce, p.Enforce) {
		return Decision{}
	}
	return a.exemptNamespace(r, p)
}

// raises tells whether Pods that were allowed may be so no more. Another version may demand more or less,
// which only its checks would tell; so any change of it counts.
func raises(before, after LevelVersion) bool {
	return before != after && after.Level != Privileged &&
		(before.Version != after.Version || after.Level > before.Level)
}

// StricterEnforcement tells whether an update of a Namespace demands more of its Pods than before, and what.
func (a *Admission) StricterEnforcement(r Request) (LevelVersion, bool) {
	if r.isCreate() || r.Subresource != "" || slices.Contains(a.config.Exemptions.Namespaces, r.Namespace) {
		return LevelVersion{}, false
	}
	before, _ := a.labels.policy(labelsOf(r.Old), a.config.Defaults)
	after, _ := a.labels.policy(labelsOf(r.New), a.config.Defaults)
	return after.Enforce, raises(before.Enforce, after.Enforce)
}

// exemptNamespace warns who labels a namespace that is exempt. Labels that repeat the defaults are no
// surprise and pass without a warning.
func (a *Admission) exemptNamespace(r Request, p Policy) Decision {
	if !slices.Contains(a.config.Exemptions.Namespaces, r.Namespace) || p.isPrivileged() || p.equivalent(a.config.Defaults) {
		return Decision{}
	}
	return Decision{Warnings: []string{fmt.Sprintf("namespace %q is exempt from Pod Security, and the policy (%s) will be ignored",
		r.Namespace, a.labels.describe(p, r.New))}}
}

// describe lists the modes of a policy that labels have set, as in "enforce=baseline:latest".
func (k *labelKeys) describe(p Policy, namespace tree.Tree) string {
	labels := labelsOf(namespace)
	var modes []string
	add := func(name string, keys modeKeys, lv LevelVersion) {
		_, level := labels(keys.level)
		_, version := labels(keys.version)
		if lv.Level != Privileged && (level || version) {
			modes = append(modes, name+"="+lv.String())
		}
	}
	add("enforce", k.enforce, p.Enforce)
	add("audit", k.audit, p.Audit)
	add("warn", k.warn, p.Warn)
	return strings.Join(modes, ", ")
}

// faultsText is the faults of labels as one text, each once.
func faultsText(faults []meta.Cause) string {
	var texts []string
	for _, f := range faults {
		texts = append(texts, f.Field+": "+f.Message)
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
