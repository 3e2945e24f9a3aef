package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A verdict says how a definition stands.
type verdict struct {
	names       schema.Tree // that it may use
	conditions  []any
	established bool // its kinds are served
	renamed     bool // names differs from what was accepted before
	news        bool // its status has to change
}

// judge gives a definition the names that no other one of its group uses. What is taken stays
// as it was accepted before. Once all were its own it is served for good.
func (d *Definitions) judge(known *definition) verdict {
	spec, status := rules.Sub(known.tree, "spec"), rules.Sub(known.tree, "status")
	wanted, had := rules.Sub(spec, "names"), rules.Sub(status, "acceptedNames")
	taken := d.taken(known, rules.Text(spec, "group"))
	v := verdict{names: schema.Tree{}}
	accepted := schema.Tree{"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"}
	refuse := func(field, name string) {
		rules.Carry(v.names, had, field)
		if accepted["status"] == "True" {
			accepted["status"], accepted["message"] = "False", fmt.Sprintf("%q is already in use", name)
			accepted["reason"] = string(field[0]-'a'+'A') + field[1:] + "Conflict"
		}
	}
	for _, field := range []string{"plural", "singular", "kind", "listKind"} {
		rules.Carry(v.names, wanted, field)
		if name := rules.Text(wanted, field); taken[taking(field)][name] {
			refuse(field, name)
		}
	}
	rules.Carry(v.names, wanted, "shortNames")
	for _, name := range rules.Texts(wanted, "shortNames") {
		if taken["resource"][name] {
			refuse("shortNames", name)
		}
	}
	rules.Carry(v.names, wanted, "categories")
	was := ofCondition(status, "Established")
	established := schema.Tree{"type": "Established", "status": "False", "reason": "NotAccepted", "message": "not all names are accepted"}
	switch {
	case was["status"] == "True":
		established = was
	case accepted["status"] == "True":
		established = schema.Tree{"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "the initial names have been accepted"}
	}
	if d.kinds.Taken(known.tree) {
		const message = "the resource or the kind is a built-in one"
		accepted["status"], accepted["reason"], accepted["message"] = "False", "BuiltIn", message
		established = schema.Tree{"type": "Established", "status": "False", "reason": "NotAccepted", "message": "not all names are accepted"}
	}
	v.established = established["status"] == "True"
	v.renamed = !rules.Equal(v.names, had)
	v.news = v.renamed
	v.conditions = append(v.conditions, v.condition(status, accepted), v.condition(status, established))
	for _, c := range rules.Trees(status, "conditions") {
		if c["type"] != "NamesAccepted" && c["type"] != "Established" {
			v.conditions = append(v.conditions, c)
		}
	}
	return v
}

// condition is a condition with the time since when it holds.
func (v *verdict) condition(status, c schema.Tree) schema.Tree {
	old := ofCondition(status, c["type"].(string))
	out := rules.Clone(c).(schema.Tree)
	rules.Carry(out, old, "lastTransitionTime")
	if old["status"] != c["status"] {
		out["lastTransitionTime"] = now()
	}
	v.news = v.news || !rules.Equal(out, old)
	return out
}

func ofCondition(status schema.Tree, kind string) schema.Tree {
	for _, c := range rules.Trees(status, "conditions") {
		if c["type"] == kind {
			return c
		}
	}
	return nil
}

// taking is the sort of a name: two of one sort may not be the same.
func taking(field string) string {
	if field == "kind" || field == "listKind" {
		return "kind"
	}
	return "resource"
}

// taken are the names that the other definitions of a group use, by their sort.
func (d *Definitions) taken(known *definition, group string) map[string]map[string]bool {
	taken := map[string]map[string]bool{"kind": {}, "resource": {}}
	for _, other := range d.known {
		if other == known || rules.Text(rules.Sub(other.tree, "spec"), "group") != group {
			continue
		}
		names := rules.Sub(other.tree, "status", "acceptedNames")
		for _, field := range []string{"plural", "singular", "kind", "listKind"} {
			if name := rules.Text(names, field); name != "" {
				taken[taking(field)][name] = true
			}
		}
		for _, name := range rules.Texts(names, "shortNames") {
			taken["resource"][name] = true
		}
	}
	return taken
}

// report writes the status of a definition, if it is still the one that was judged: of a newer
// one a watch tells.
func (d *Definitions) report(ctx context.Context, known *definition, v verdict) {
	patch, err := json.Marshal(schema.Tree{
		"metadata": schema.Tree{"uid": known.object.Head.UID, "resourceVersion": strconv.FormatUint(known.object.Version, 10)},
		"status":   schema.Tree{"conditions": slices.Clone(v.conditions), "acceptedNames": v.names},
	})
	if err == nil {
		_, err = d.store.Mutate(ctx, request.Mutation{
			Verb: request.Patch, Kind: d.kind, Key: known.object.Key, Subresource: "status", FieldManager: d.manager,
			PatchType: request.MergePatch, PatchBody: patch,
		})
	}
	rules.Grow(known.tree, "status")["acceptedNames"] = v.names
	if err != nil && ctx.Err() == nil && !gone(err) && !overtaken(err) {
		d.logger.Warn("writing the status of a definition", "definition", known.object.Key.Name, "error", err)
	}
}
