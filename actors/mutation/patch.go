package mutation

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/merge"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// preparePatch applies a patch to the existing object in the client's version, and converts the
// result back.
func preparePatch(cur State, m *request.Mutation, patch request.Patch, env Env) (Prepared, error) {
	if cur.Object == nil {
		return Prepared{}, m.NotFound()
	}
	sub := m.Kind.Subresource(m.Subresource)
	kind := convert.BodyKind(m.Kind, sub)
	base := clientView(cur, m.Kind, sub)
	patched, duplicates, err := applyPatch(base, kind, patch)
	if err != nil {
		return Prepared{}, err
	}
	invalid := func(text string) error { return invalidPatch(patch, text) }
	if text := kindMismatch(kind, patched); text != "" {
		return Prepared{}, invalid(text)
	}
	if patch.Type != request.StrategicMergePatch && patched.String("apiVersion") == "" {
		return Prepared{}, newNoName(m) // an object without a version has no fields either
	}
	want, faults, err := codec.Conform(kind.Message(), patched, base)
	if errors.Is(err, codec.ErrTooManyMessages) {
		return Prepared{}, meta.NewTooLarge("%v", err)
	}
	switch {
	case err != nil && patch.Type == request.StrategicMergePatch:
		return Prepared{}, invalid(codec.ConversionText(err))
	case err != nil:
		return Prepared{}, invalid(err.Error())
	}
	warnings, strict := applyFieldValidation(m, append(duplicates, faults...))
	if strict != "" {
		return Prepared{}, invalid(strict)
	}
	if err := checkPatchedName(m, patch, patched); err != nil {
		return Prepared{}, err
	}
	m.Recorder.Warn(warnings...)
	return prepareReplacement(cur, m, copyBelowTop(cur, m, want, env), env)
}

// checkPatchedName rejects renames. The error shows the new name only if the patch contains it.
// Otherwise, a JSON patch could reveal a field that the client may not read by copying it into
// metadata.name.
func checkPatchedName(m *request.Mutation, patch request.Patch, patched tree.Tree) error {
	switch name := childObject(patched, "metadata")["name"]; name {
	case m.Key.Name:
		return nil
	case nil, "":
		return newNoName(m)
	default:
		shown := ""
		if text := fmt.Sprint(name); bytes.Contains(patch.Body, []byte(text)) {
			shown = "(" + text + ") "
		}
		return meta.NewBadRequest("the name of the object " + shown + "does not match the name on the URL (" + m.Key.Name + ")")
	}
}

func newNoName(m *request.Mutation) error {
	return meta.NewBadRequest("the name of the object (" + m.Key.Name + " based on URL) was undeterminable: name must be provided")
}

// kindMismatch returns an error text if a patch changes the apiVersion or kind of the object, and
// otherwise an empty string. A patch may remove the kind of a built-in object, but not of a custom
// one.
func kindMismatch(k *schema.Kind, patched tree.Tree) string {
	if k.IsCustom() && (patched["kind"] == nil || patched["kind"] == "") {
		return "Object 'Kind' is missing"
	}
	for _, is := range [][2]string{{"apiVersion", k.APIVersion()}, {"kind", k.Kind}} {
		if v := patched[is[0]]; v != nil && v != "" && v != is[1] {
			return fmt.Sprintf("the %s in the patched object does not match the expected %s (%s)", is[0], is[0], is[1])
		}
	}
	return ""
}

// clientView returns the current state in the requested version, with apiVersion, kind and
// resourceVersion. Callers may modify only the top level and metadata. The rest is shared.
func clientView(cur State, k *schema.Kind, sub *schema.Subresource) tree.Tree {
	kind := convert.BodyKind(k, sub)
	object := cloneTop(convert.FromStored(k, sub, cur.Tree))
	object["apiVersion"], object["kind"] = kind.APIVersion(), kind.Kind
	if cur.Committed {
		childObject(object, "metadata")["resourceVersion"] = strconv.FormatUint(cur.Object.Version, 10)
	}
	return object
}

// encodedView encodes t as JSON and decodes it again, because a JSON patch may refer to empty
// fields that appear only in JSON. It copies resourceVersion from t, because the encoding omits it.
func encodedView(k *schema.Kind, t tree.Tree) (tree.Tree, error) {
	v, err := codec.DecodeAnyStored(codec.EncodeJSON(k, t).JSON)
	out, ok := v.(tree.Tree)
	if err != nil || !ok {
		return nil, fmt.Errorf("encoded %s: %w", k.Kind, err)
	}
	childObject(out, "metadata").CopyField(childObject(t, "metadata"), "resourceVersion")
	return out, nil
}

// keepUnchanged returns the patched object, but takes each field that a JSON patch left unchanged
// from base. written is the encodedView of base, to which the patch was applied. It compares only
// the top-level fields of the object and of the subobject named by below.
func keepUnchanged(patched, written, base tree.Tree, below string) tree.Tree {
	out := maps.Clone(patched)
	for name, v := range patched {
		if was, there := base[name]; there && tree.SameRef(v, written[name]) {
			out[name] = was
		}
	}
	if v, ok := patched[below].(tree.Tree); ok {
		out[below] = keepUnchanged(v, childObject(written, below), childObject(base, below), "")
	}
	return out
}

// applyPatch returns base with the patch applied. It also returns duplicate fields, and unknown
// fields of JSON patch operations, because these cannot be detected in the result.
func applyPatch(base tree.Tree, kind *schema.Kind, patch request.Patch) (tree.Tree, []codec.FieldFault, error) {
	if patch.Type == request.JSONPatch {
		written, err := encodedView(kind, base)
		if err != nil {
			return nil, nil, err
		}
		body, faults, err := sanitizeJSONPatch(patch.Body)
		if err != nil {
			return nil, nil, err
		}
		patched, err := merge.JSONPatch(written, body)
		if err != nil {
			return nil, nil, err
		}
		return keepUnchanged(patched, written, base, "metadata"), faults, nil
	}
	decoded, duplicates, err := codec.DecodeAny(patch.Body)
	if err != nil {
		return nil, nil, meta.NewBadRequest("error decoding patch: " + err.Error())
	}
	body, ok := decoded.(tree.Tree)
	if !ok && (decoded != nil || patch.Type != request.StrategicMergePatch) { // null changes nothing there
		return nil, nil, meta.NewBadRequest("error decoding patch: the patch must be a JSON object")
	}
	if patch.Type == request.StrategicMergePatch {
		for _, name := range []string{"apiVersion", "kind"} { // ignored: the path determines them
			if _, isText := body[name].(string); isText || body[name] == nil {
				delete(body, name)
			}
		}
		patched, err := merge.Strategic(kind.Message(), base, body)
		return patched, duplicates, err
	}
	return merge.Merge(base, body).(tree.Tree), duplicates, nil
}

// sanitizeJSONPatch removes unknown fields from the operations of a JSON patch, because the patch
// library ignores case and would accept OP as op. It returns unknown and duplicate fields as
// faults. It rejects patches that are nested too deeply.
func sanitizeJSONPatch(body []byte) ([]byte, []codec.FieldFault, error) {
	decoded, faults, err := codec.DecodeAny(body)
	if errors.Is(err, jsontext.ErrDepth) {
		return nil, nil, meta.NewBadRequest("error decoding patch: " + err.Error())
	}
	list, ok := decoded.([]any)
	if err != nil || !ok {
		return body, nil, nil // the library rejects it
	}
	known := true
	for i := range list {
		operation, _ := list[i].(tree.Tree)
		for _, name := range operation.SortedKeys() {
			if !slices.Contains([]string{"op", "path", "from", "value"}, name) {
				faults = append(faults, codec.FieldFault{Path: "[" + strconv.Itoa(i) + "]." + name})
				delete(operation, name)
				known = false
			}
		}
	}
	if !known {
		body = codec.AppendAny(nil, list)
	}
	for i := range faults {
		faults[i].Message = "json patch " + faults[i].String()
	}
	return body, faults, nil
}

// applyFieldValidation turns unknown and duplicate fields into warnings or one error, depending on
// the fieldValidation of the request.
func applyFieldValidation(m *request.Mutation, faults []codec.FieldFault) (warnings []string, strict string) {
	if len(faults) == 0 || m.FieldValidation == request.Ignore {
		return nil, ""
	}
	refused := codec.Refused(faults)
	isStrict := m.FieldValidation == request.Strict && len(refused) > 0
	if isStrict {
		faults = refused
	}
	texts := make([]string, len(faults))
	for i, fault := range faults {
		texts[i] = fault.String()
	}
	if isStrict {
		return nil, "strict decoding error: " + strings.Join(texts, ", ")
	}
	return texts, ""
}

// invalidPatch returns the error for a patch with an invalid result. The error shows the truncated
// patch but no part of the object, which may be a Secret, because errors are logged.
func invalidPatch(patch request.Patch, text string) error {
	const limit = 16 << 10 // bytes of the patch in the error, which leaves space for the reason
	shown := string(patch.Body)
	if patch.Type == request.StrategicMergePatch { // kube-apiserver shows it in Go's format
		if decoded, _, err := codec.DecodeAny(patch.Body); err == nil {
			shown = fmt.Sprintf("%+v", decoded)
		}
	}
	return meta.NewInvalid(meta.GroupKind{}, "", []meta.Cause{{
		Type: meta.CauseInvalid, Field: "patch", Message: fmt.Sprintf("Invalid value: %q: %s", meta.CutText(shown, limit), text)}})
}
