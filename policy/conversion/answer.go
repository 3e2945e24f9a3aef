package conversion

import (
	"errors"
	"fmt"
	"maps"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// readAnswer validates a response and returns its objects. One invalid object fails the whole
// response, because clients cannot read a list of mixed versions.
func (q *question) readAnswer(review tree.Tree) ([]*meta.Object, error) {
	list, err := q.convertedObjects(review)
	if err != nil {
		return nil, q.failed(malformedAnswer, err)
	}
	// Check the count first, because objects in the response match the request only by position.
	if len(list) != len(q.objects) {
		return nil, q.returned(partialAnswer, "%d objects, expected %d", len(list), len(q.objects))
	}
	out := make([]*meta.Object, len(list))
	for i, v := range list {
		if out[i], err = q.readObject(i, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// convertedObjects validates the envelope of the response and returns its objects. In v1beta1, the
// uid, apiVersion and kind of a response are not checked.
func (q *question) convertedObjects(review tree.Tree) ([]any, error) {
	if group, kind := review.String("apiVersion"), review.String("kind"); q.reviewVersion == "v1" && (group != q.apiVersion || kind != reviewKind) {
		if group == "" {
			group = "/"
		}
		return nil, fmt.Errorf("expected webhook response of %s, Kind=%s, got %s, Kind=%s", q.apiVersion, reviewKind, group, kind)
	}
	response, ok := review["response"].(tree.Tree)
	if !ok {
		return nil, errors.New("no response provided")
	}
	if uid := response.String("uid"); q.reviewVersion == "v1" && uid != q.uid {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", q.uid, uid)
	}
	result := response.Object("result")
	switch outcome, message := result.String("status"), result.String("message"); {
	case outcome == "Success":
	case message != "":
		return nil, errors.New(message)
	default:
		return nil, fmt.Errorf("response.result.status was '%s', not 'Success'", outcome)
	}
	return response.List("convertedObjects"), nil
}

// readObject validates and encodes one converted object. The webhook must not change the object's
// identity or most of its metadata.
func (q *question) readObject(i int, v any) (*meta.Object, error) {
	original := q.objects[i]
	converted, ok := v.(tree.Tree)
	if !ok || converted.String("kind") == "" {
		return nil, q.invalidAt(i, "Object 'Kind' is missing")
	}
	if err := q.checkVersion(i, converted); err != nil {
		return nil, err
	}
	before, err := codec.DecodeStored(q.target.Message(), original.JSON)
	if err != nil {
		return nil, q.invalidAt(i, err)
	}
	if err := checkIdentity(before.Object("metadata"), converted.Object("metadata")); err != nil {
		return nil, q.invalidAt(i, err)
	}
	metadata, err := restoreMetadata(before.Object("metadata"), converted)
	if err != nil && len(q.objects) > 1 {
		return nil, q.returned(invalidConverted, "invalid metadata in object at index %d: %v", i, err)
	}
	if err != nil {
		return nil, q.returned(invalidConverted, "invalid metadata: %v", err)
	}
	// A shallow copy is enough, because only the top level changes.
	converted = maps.Clone(converted)
	converted["metadata"] = metadata
	converted, _ = q.target.Message().Custom.Prune(converted)
	out, err := encode(q.target, original, converted)
	if err != nil {
		return nil, q.invalidAt(i, err)
	}
	return out, nil
}

// checkVersion checks the apiVersion and kind of a converted object. It does not use invalidAt,
// because these error messages have another form in kube-apiserver.
func (q *question) checkVersion(i int, converted tree.Tree) error {
	at := "object"
	if len(q.objects) > 1 {
		at = "converted object"
	}
	if want, got := q.target.APIVersion(), converted.String("apiVersion"); got != want {
		return q.returned(invalidConverted, "invalid %s at index %d: invalid groupVersion (expected %s, received %s)", at, i, want, got)
	}
	if want, got := q.target.Kind, converted.String("kind"); got != want {
		return q.returned(invalidConverted, "invalid %s at index %d: invalid kind (expected %s, received %s)", at, i, want, got)
	}
	return nil
}

// checkIdentity prevents a webhook from replacing one object with another user's object.
func checkIdentity(original, converted tree.Tree) error {
	for _, field := range [][2]string{{"name", "name"}, {"namespace", "namespace"}, {"uid", "UID"}} {
		if want, got := original.String(field[0]), converted.String(field[0]); want != got {
			return fmt.Errorf("must have the same %s: %s != %s", field[1], want, got)
		}
	}
	return nil
}

func restoreMetadata(original, converted tree.Tree) (tree.Tree, error) {
	v, there := converted["metadata"]
	if !there {
		return nil, errors.New("missing metadata in converted object")
	}
	answered, ok := v.(tree.Tree)
	if !ok {
		return nil, fmt.Errorf("invalid metadata of type %T in converted object", v)
	}
	// Replace the whole maps, so that a webhook can also remove entries.
	metadata := maps.Clone(original)
	for name, validate := range map[string]func(tree.Tree, string, *schema.Faults){"labels": rules.ValidateLabels, "annotations": rules.ValidateAnnotations} {
		delete(metadata, name)
		v := answered[name]
		if v == nil {
			continue
		}
		texts, ok := v.(tree.Tree)
		if !ok {
			return nil, fmt.Errorf("invalid metadata.%s of type %T in converted object", name, v)
		}
		if err := checkTexts(name, original.Object(name), texts, validate); err != nil {
			return nil, err
		}
		metadata[name] = texts
	}
	return metadata, nil
}

// checkTexts validates converted labels or annotations. It accepts unchanged values, which may
// predate the current rules.
func checkTexts(name string, original, texts tree.Tree, validate func(tree.Tree, string, *schema.Faults)) error {
	for _, key := range texts.SortedKeys() {
		if _, ok := texts[key].(string); !ok {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, texts[key])
		}
	}
	if tree.StrictEqual(original, texts) {
		return nil
	}
	var faults schema.Faults
	validate(texts, "metadata."+name, &faults)
	if len(faults.List) == 0 {
		return nil
	}
	first := faults.List[0]
	return fmt.Errorf("%s: %s", first.Field, first.Message)
}

// encode returns t as an object with the key and version of like.
//
// The object has the stored kind, like an object read from the store. It is marked as conforming to
// the requested version's schema, so that it is not pruned again.
func encode(k *schema.Kind, like *meta.Object, t tree.Tree) (*meta.Object, error) {
	encoded := codec.EncodeJSON(k, t)
	json := encoded.Unversioned()
	if like.Version > 0 { // new objects have no version
		json = encoded.WithVersion(like.Version)
	}
	o, err := codec.NewObject(k.Stored, like.Key, like.Version, json) // the stored kind knows the selectable fields of all versions
	if err == nil {
		o.SetConformsTo(k.Origin.Schema.ID())
	}
	return o, err
}
