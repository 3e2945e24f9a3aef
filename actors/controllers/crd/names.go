package crd

import (
	"context"
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

type namesResult struct {
	names       tree.Tree // the acceptedNames of its status
	conditions  []any
	established bool // its kinds are served
	renamed     bool // names differs from the previous acceptedNames
	changed     bool // the status has to be written
}

// calculateNames accepts a CRD's names unless another CRD in the group uses them. After a conflict,
// it keeps the previously accepted name. An established CRD remains established, so that stored
// objects stay accessible. calculateNames also adds the approval condition where required.
func (c *Controller) calculateNames(known *definition) namesResult {
	spec, status := known.tree.Object("spec"), known.tree.Object("status")
	wanted, had := spec.Object("names"), status.Object("acceptedNames")
	own := namesOf(had)
	v := namesResult{names: tree.Tree{}}
	for _, c := range status.Objects("conditions") {
		v.conditions = append(v.conditions, c)
	}
	accepted := tree.Tree{"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"}
	// The condition reports only the last conflict.
	refuse := func(field, name string) {
		v.names.CopyField(had, field)
		accepted["status"], accepted["message"] = "False", fmt.Sprintf("%q is already in use", name)
		accepted["reason"] = string(field[0]-'a'+'A') + field[1:] + "Conflict"
	}
	for _, field := range []string{"plural", "singular", "shortNames", "kind", "listKind"} {
		v.names.CopyField(wanted, field)
		names := wanted.Strings(field)
		if field != "shortNames" {
			names = []string{wanted.String(field)}
		}
		for _, name := range names {
			key := nameKey{nameScope(field), name}
			users := c.names[spec.String("group")][key]
			if own[key] {
				users--
			}
			if users > 0 {
				refuse(field, name)
			}
		}
	}
	v.names.CopyField(wanted, "categories")
	was := tree.FindCondition(status, "Established")
	established := tree.Tree{"type": "Established", "status": "False", "reason": "NotAccepted", "message": "not all names are accepted"}
	switch {
	case was["status"] == "True":
		established = was
	case accepted["status"] == "True":
		established = tree.Tree{"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "the initial names have been accepted"}
	}
	if c.Kinds.ConflictsWithBuiltIn(known.tree) {
		const message = "the resource or the kind is a built-in one"
		accepted["status"], accepted["reason"], accepted["message"] = "False", "BuiltIn", message
		established = tree.Tree{"type": "Established", "status": "False", "reason": "NotAccepted", "message": "not all names are accepted"}
	}
	v.established = established["status"] == "True"
	v.renamed = !tree.SemanticEqual(v.names, had)
	v.changed = v.renamed
	v.setConditions(status, accepted, established)
	if approval, needed := c.approvals.Of(known.tree); needed {
		v.setConditions(status, tree.Tree{"type": "KubernetesAPIApprovalPolicyConformant",
			"status": approval.Status, "reason": approval.Reason, "message": approval.Message})
	}
	return v
}

func (v *namesResult) setConditions(status tree.Tree, all ...tree.Tree) {
	for _, c := range all {
		made := v.withTransitionTime(status, c)
		if i := slices.IndexFunc(v.conditions, func(o any) bool { return o.(tree.Tree)["type"] == c["type"] }); i >= 0 {
			v.conditions[i] = made
		} else {
			v.conditions = append(v.conditions, made)
		}
	}
}

func (v *namesResult) withTransitionTime(status, c tree.Tree) tree.Tree {
	old := tree.FindCondition(status, c["type"].(string))
	out := c.Copy()
	out.CopyField(old, "lastTransitionTime")
	if old["status"] != c["status"] {
		out["lastTransitionTime"] = reconcile.Timestamp()
	}
	v.changed = v.changed || !tree.SemanticEqual(out, old)
	return out
}

func nameScope(field string) string {
	if field == "kind" || field == "listKind" {
		return "kind"
	}
	return "resource"
}

// A nameKey is a name that CRDs of a group may not share.
type nameKey struct{ scope, name string }

// namesOf returns the keys of a CRD's acceptedNames.
func namesOf(accepted tree.Tree) map[nameKey]bool {
	keys := map[nameKey]bool{}
	for _, field := range []string{"plural", "singular", "kind", "listKind"} {
		if name := accepted.String(field); name != "" {
			keys[nameKey{nameScope(field), name}] = true
		}
	}
	for _, name := range accepted.Strings("shortNames") {
		keys[nameKey{"resource", name}] = true
	}
	return keys
}

// countNames adds n to the number of CRDs in the group that use each accepted name of known.
func (c *Controller) countNames(known *definition, n int) {
	group := known.tree.Object("spec").String("group")
	if c.names[group] == nil {
		c.names[group] = map[nameKey]int{}
	}
	for key := range namesOf(known.tree.Object("status", "acceptedNames")) {
		if c.names[group][key] += n; c.names[group][key] == 0 {
			delete(c.names[group], key)
		}
	}
	if len(c.names[group]) == 0 {
		delete(c.names, group)
	}
}

// updateStatus writes the CRD's status. Conflicts need no retry, because the watch delivers the
// changed CRD.
func (c *Controller) updateStatus(ctx context.Context, known *definition, v namesResult) {
	err := c.definitions.PatchStatus(ctx, known.object, tree.Tree{"conditions": slices.Clone(v.conditions), "acceptedNames": v.names})
	c.countNames(known, -1)
	known.tree.EnsureObject("status")["acceptedNames"] = v.names
	c.countNames(known, 1)
	c.report(ctx, "cannot update the status of a CustomResourceDefinition", known.object, err)
}
