package mutation

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/merge"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// patch changes an existing object by a patch of any format.
func patch(cur State, m *request.Mutation, env Env) (Candidate, error) {
	if m.PatchType == request.ApplyPatch {
		return apply(cur, m, env)
	}
	if cur.Object == nil {
		return Candidate{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	sub := m.Kind.Subresource(m.Subresource)
	speaker := convert.Speaker(m.Kind, sub)
	patched, err := applyPatch(asClientsSee(cur, m.Kind, sub), speaker, m)
	if err != nil {
		return Candidate{}, err
	}
	want, faults, err := codec.Conform(speaker.Message, patched)
	if err != nil {
		return Candidate{}, meta.NewInvalid(meta.GroupKind{}, "", []meta.Cause{{
			Type: meta.CauseInvalid, Field: "patch", Message: "Invalid value: " + err.Error()}})
	}
	warnings, err := judge(m, faults)
	if err != nil {
		return Candidate{}, err
	}
	c, err := replace(cur, m, rules.Clone(want).(schema.Tree), env)
	c.Warnings = append(warnings, c.Warnings...)
	return c, err
}

// asClientsSee is the tree as the kind or the sub-resource shows it, with the parts that
// the server keeps elsewhere. It may share everything below metadata with the current tree.
func asClientsSee(cur State, k *schema.Kind, sub *schema.Subresource) schema.Tree {
	speaker := convert.Speaker(k, sub)
	tree := cloneTop(convert.Shown(k, sub, cur.Tree))
	tree["apiVersion"], tree["kind"] = speaker.APIVersion(), speaker.Kind
	if cur.Fresh {
		object(tree, "metadata")["resourceVersion"] = strconv.FormatUint(cur.Object.Version, 10)
	}
	return tree
}

func applyPatch(base schema.Tree, speaker *schema.Kind, m *request.Mutation) (schema.Tree, error) {
	if m.PatchType == request.JSONPatch {
		return merge.JSONPatch(base, m.PatchBody)
	}
	decoded, _, err := codec.DecodeAny(m.PatchBody)
	if err != nil {
		return nil, meta.NewBadRequest("error decoding patch: " + err.Error())
	}
	body, ok := decoded.(schema.Tree)
	if !ok {
		return nil, meta.NewBadRequest("error decoding patch: the patch must be a JSON object")
	}
	if m.PatchType == request.StrategicMergePatch {
		return merge.Strategic(speaker.Message, base, body)
	}
	return merge.Merge(base, body).(schema.Tree), nil
}

// judge turns faults into warnings or into one error, as the request wants.
func judge(m *request.Mutation, faults []codec.FieldFault) ([]string, error) {
	if len(faults) == 0 || m.FieldValidation == request.Ignore {
		return nil, nil
	}
	texts := make([]string, len(faults))
	for i, fault := range faults {
		texts[i] = fault.String()
	}
	if m.FieldValidation == request.Strict {
		return nil, meta.NewBadRequest("strict decoding error: " + strings.Join(texts, ", "))
	}
	return texts, nil
}
