package codec

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An ObjectRef identifies the object in stored bytes. Version is 0 if the object has no
// resourceVersion.
type ObjectRef struct {
	Name, Namespace string
	Version         uint64
}

var errNoObject = errors.New("stored bytes are not an object")

// ExtractMeta returns an object's metadata from its tree, equal to the result of ParseMeta. It
// shares the tree's memory. For stored objects, use NewObject instead.
func ExtractMeta(k *schema.Kind, t tree.Tree) meta.ObjectMeta {
	m, _ := t["metadata"].(tree.Tree)
	var h meta.ObjectMeta
	h.UID, _ = m["uid"].(string)
	h.Generation, _ = m["generation"].(int64)
	labels, _ := m["labels"].(tree.Tree)
	for key, v := range labels {
		text, _ := v.(string)
		h.Labels = append(h.Labels, meta.Label{Key: key, Value: text})
	}
	h.Labels.Sort()
	finalizers, _ := m["finalizers"].([]any)
	for _, v := range finalizers {
		s, _ := v.(string)
		h.Finalizers = append(h.Finalizers, s)
	}
	owners, _ := m["ownerReferences"].([]any)
	for _, v := range owners {
		o, _ := v.(tree.Tree)
		h.OwnerReferences = append(h.OwnerReferences, ownerOf(o))
	}
	h.Terminating = m["deletionTimestamp"] != nil
	if len(k.SelectFields) > 0 {
		h.Fields = make([]string, len(k.SelectFields))
		for i, f := range k.SelectFields {
			h.Fields[i] = scalarString(valueAt(t, f.Path))
		}
		zeroAbsentFields(k, h.Fields)
	}
	return h
}

func ownerOf(o tree.Tree) meta.OwnerReference {
	var out meta.OwnerReference
	out.APIVersion, _ = o["apiVersion"].(string)
	out.Kind, _ = o["kind"].(string)
	out.Name, _ = o["name"].(string)
	out.UID, _ = o["uid"].(string)
	out.Controller, _ = o["controller"].(bool)
	out.BlockOwnerDeletion, _ = o["blockOwnerDeletion"].(bool)
	return out
}

func valueAt(v any, path string) any {
	for path != "" {
		object, _ := v.(tree.Tree)
		var name string
		name, path, _ = strings.Cut(path, ".")
		v = object[name]
	}
	return v
}

// scalarString returns the string that field selectors compare. It returns "" for floats, whose
// format clients could not predict.
func scalarString(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// zeroAbsentFields sets absent selectable fields to the value of their fallback field or to the
// zero value of their type. For example, spec.unschedulable=false then matches Nodes without that
// field. It skips custom kinds.
func zeroAbsentFields(k *schema.Kind, fields []string) {
	if k.IsCustom() {
		return
	}
	for i, selected := range k.SelectFields {
		if fields[i] != "" {
			continue
		}
		if selected.Fallback != "" {
			fields[i] = fields[slices.IndexFunc(k.SelectFields, func(f schema.SelectField) bool { return f.Path == selected.Fallback })]
			continue
		}
		switch f := fieldAt(k.Message(), selected.Path); {
		case f == nil || f.Shape != schema.Single:
		case f.Type == schema.TypeBool:
			fields[i] = "false"
		case f.Type == schema.TypeInt32 || f.Type == schema.TypeInt64:
			fields[i] = "0"
		}
	}
}

func fieldAt(m *schema.Message, path string) *schema.Field {
	for m != nil {
		name, rest, more := strings.Cut(path, ".")
		f := m.Field(name)
		if f == nil || !more {
			return f
		}
		m, path = f.Message, rest
	}
	return nil
}

// NewObject checks stored bytes and returns the encoded object. The object shares the memory of
// json, which must not change. NewObject returns an error if the bytes are malformed or
// undecodable, or if the object belongs under another key. Recovery quarantines such objects. An
// object that an older release stored in another version of the kind is returned in the current
// version.
func NewObject(k *schema.Kind, key meta.Key, version uint64, json []byte) (*meta.Object, error) {
	if err := checkDecodable(k, key, json); err != nil {
		return nil, err
	}
	if !k.IsCustom() && !hasHead(k, json) {
		if offset := bytes.Index(json, []byte(`,"metadata":`)); offset >= 0 {
			json = append(appendHead(nil, k), json[offset:]...)
		}
	}
	head, _, err := parseMeta(k, json, len(k.SelectFields) == 0)
	if err != nil {
		return nil, err
	}
	return &meta.Object{Key: key, Version: version, JSON: json, ItemOffset: k.ItemOffset(), Meta: head}, nil
}

// hasHead reports whether json begins with kind and apiVersion, which lists skip. It assumes that
// the kind is correct.
func hasHead(k *schema.Kind, json []byte) bool {
	head, ok := bytes.CutSuffix(json[:k.ItemOffset()], []byte(`",`))
	version := len(head) - len(k.Version)
	return ok && string(head[version:]) == k.Version && (head[version-1] == '/' || head[version-1] == '"')
}

// ParseMeta reads an object's metadata and identity from its JSON. The strings share the memory of
// json, which must not change while they are in use.
func ParseMeta(k *schema.Kind, json []byte) (meta.ObjectMeta, ObjectRef, error) {
	return parseMeta(k, json, false)
}

// parseMeta is ParseMeta, but stops after the metadata if metadataOnly is true. This requires valid
// JSON and a kind without selectable fields.
func parseMeta(k *schema.Kind, json []byte, metadataOnly bool) (meta.ObjectMeta, ObjectRef, error) {
	if len(json) == 0 || k.ItemOffset() > len(json) {
		return meta.ObjectMeta{}, ObjectRef{}, errNoObject
	}
	p := metaParser{Scanner: jsontext.Over(json), kind: k, metadataOnly: metadataOnly}
	p.Limit = jsontext.MaxStoredDepth
	if len(k.SelectFields) > 0 {
		p.meta.Fields = make([]string, len(k.SelectFields))
	}
	if p.Peek() != '{' {
		return meta.ObjectMeta{}, ObjectRef{}, errNoObject
	}
	if err := p.object(""); err == errDone {
		return p.meta, p.ref, nil
	} else if err != nil {
		return meta.ObjectMeta{}, ObjectRef{}, err
	}
	if err := p.End(); err != nil {
		return meta.ObjectMeta{}, ObjectRef{}, err
	}
	zeroAbsentFields(k, p.meta.Fields)
	return p.meta, p.ref, nil
}
