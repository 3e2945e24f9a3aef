package mutation

import (
	"bytes"
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestMutationsDoNotChangeState checks for every kind that no mutation modifies the previous state,
// although candidates share unchanged parts with it.
func TestMutationsDoNotChangeState(t *testing.T) {
	text := must.Get(os.ReadFile("../../test/api/testdata/representation/objects.yaml"))(t)
	all := must.Get(catalog.New(meta.Kubernetes))(t)
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var head struct{ APIVersion, Kind string }
		must.Succeed(t, yaml.Unmarshal(document, &head))
		for _, k := range all.Kinds() {
			if k.APIVersion() == head.APIVersion && k.Kind == head.Kind {
				t.Run(k.Kind, func(t *testing.T) { checkStateUnchanged(t, k, document) })
			}
		}
	}
}

func checkStateUnchanged(t *testing.T, k *schema.Kind, document []byte) {
	body := func() tree.Tree {
		object, _, err := codec.DecodeYAML(k.Message(), document)
		must.Succeed(t, err)
		return object
	}
	labelled := func() tree.Tree {
		object := body()
		object.EnsureObject("metadata", "labels")["new"] = "label"
		return object
	}
	const lastApplied = "example.com/last-applied"
	kept := func() tree.Tree {
		object := body()
		object.EnsureObject("metadata", "annotations")[lastApplied] = "{}"
		return object
	}
	name := body().Object("metadata").String("name")
	s := &testObject{t: t, kind: k, env: env, key: meta.Key{Name: name}}
	s.env.LastApplied = lastApplied
	if k.Namespaced {
		s.key.Namespace = "default"
	}
	s.write(request.Mutation{Change: request.Create{Object: kept()}, FieldManager: "a"})
	annotated := tree.Clone(s.cur.Tree).(tree.Tree)
	annotated.EnsureObject("metadata", "annotations")["new"] = "annotation"
	defaulted := tree.Clone(annotated).(tree.Tree)
	if rules.Default(k.Stored, defaulted); !tree.StrictEqual(defaulted, annotated) {
		t.Errorf("an annotation asks for defaults: %s", codec.AppendAny(nil, defaulted))
	}
	label := []byte(`{"metadata":{"labels":{"new":"label"}}}`)
	for _, m := range []request.Mutation{
		{Change: request.Update{Object: body()}},
		{Change: request.Update{Object: labelled()}},
		{Change: request.Patch{Type: request.MergePatch, Body: label}},
		{Change: request.Patch{Type: request.StrategicMergePatch, Body: label}},
		{Change: request.Apply{Config: labelled(), Force: true}, FieldManager: "b"},
		{Change: request.Apply{Config: labelled(), Force: true}, FieldManager: kubectlManager},
		{Change: request.Apply{Config: tree.Tree{
			"apiVersion": k.APIVersion(), "kind": k.Kind, "metadata": tree.Tree{"name": name, "labels": tree.Tree{"new": "label"}},
		}, Force: true}, FieldManager: "b"},
		{Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"stringData":{"a":"other"},"binaryData":{"b":"Yg=="}}`)}},
		{Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"status":{"phase":"Failed"}}`)}, Subresource: "status"},
	} {
		if m.Subresource != "" && k.Subresource(m.Subresource) == nil {
			continue
		}
		m.Kind, m.Key = k, s.key
		before := codec.EncodeJSON(k.Stored, s.cur.Tree).JSON
		_, err := Apply(s.cur, &m, s.env)
		if after := codec.EncodeJSON(k.Stored, s.cur.Tree).JSON; !bytes.Equal(before, after) {
			t.Errorf("%T %v (%v): the state became\n%s, was\n%s", m.Change, m.Change, err, after, before)
		}
	}
}

// TestLabelsAreDefaultedAgain checks that removed labels are defaulted from the Pod template again,
// even if the template is unchanged.
func TestLabelsAreDefaultedAgain(t *testing.T) {
	s := newTestObject(t, "replicationcontrollers")
	s.write(s.config("a", `{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"a","namespace":"default","labels":{"own":"label"}},`+
		`"spec":{"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`))
	c := s.write(request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"labels":null}}`)}})
	if labels := c.Tree.Object("metadata", "labels"); !tree.StrictEqual(labels, tree.Tree{"app": "web"}) {
		t.Errorf("labels %v", labels)
	}
}
