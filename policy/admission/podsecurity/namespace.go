package podsecurity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// decideNamespace rejects invalid labels unless they are unchanged, so that existing namespaces
// stay editable and deletable. It warns about ineffective labels. StricterEnforcement and CheckPods
// handle existing Pods.
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

// raises reports whether after may be stricter than before. Any other version may be stricter.
func raises(before, after LevelVersion) bool {
	return before != after && after.Level != Privileged &&
		(before.Version != after.Version || after.Level > before.Level)
}

// StricterEnforcement returns the new enforce level of a Namespace update and reports whether it
// may be stricter.
func (a *Admission) StricterEnforcement(r Request) (LevelVersion, bool) {
	if r.isCreate() || r.Subresource != "" || slices.Contains(a.config.Exemptions.Namespaces, r.Namespace) {
		return LevelVersion{}, false
	}
	before, _ := a.labels.policy(labelsOf(r.Old), a.config.Defaults)
	after, _ := a.labels.policy(labelsOf(r.New), a.config.Defaults)
	return after.Enforce, raises(before.Enforce, after.Enforce)
}

func (a *Admission) exemptNamespace(r Request, p Policy) Decision {
	if !slices.Contains(a.config.Exemptions.Namespaces, r.Namespace) || p.isPrivileged() || p.equivalent(a.config.Defaults) {
		return Decision{}
	}
	return Decision{Warnings: []string{fmt.Sprintf("namespace %q is exempt from Pod Security, and the policy (%s) will be ignored",
		r.Namespace, a.labels.describe(p, r.New))}}
}

// describe lists the modes set by labels, as in "enforce=baseline:latest".
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
