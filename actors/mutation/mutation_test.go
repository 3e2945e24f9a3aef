package mutation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/cases"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const currentVersion = 5

var env = Env{
	Context: context.Background(),
	Now:     time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	NewUID:  func() string { return "new-uid" },
}

func kindNamed(t testing.TB, resource string) *schema.Kind {
	t.Helper()
	kinds := must.Get(catalog.New(meta.Platform))(t)
	k := cmp.Or(kinds.Kind("", "v1", resource), kinds.Kind("apps", "v1", resource), kinds.Kind("resource.platform.io", "v1", resource))
	if k == nil {
		t.Fatalf("no kind %s", resource)
	}
	return k
}

func decode(t testing.TB, k *schema.Kind, text string) tree.Tree {
	t.Helper()
	object, faults, err := codec.DecodeJSON(k.Message(), []byte(text))
	if err != nil || len(faults) > 0 {
		t.Fatalf("%s: %v %v", text, faults, err)
	}
	return object
}

// stateFrom returns the State of an object. If pending is set, the object is the result of an
// uncommitted change, and the committed object has currentVersion.
func stateFrom(t *testing.T, k *schema.Kind, text string, pending bool) State {
	t.Helper()
	wanted := decode(t, k, text)
	rules.Default(k, wanted)
	if k.Writes.Deletion == schema.DeleteGracefully { // add the spec fields that a create sets, but keep the status
		created := tree.Clone(wanted).(tree.Tree)
		k.Preparer.Prepare(created, nil)
		wanted["spec"] = created["spec"]
	}
	if !pending {
		return stateOf(t, k, wanted)
	}
	encoded := codec.EncodeJSON(k, wanted).JSON
	object := decode(t, k, string(encoded))
	return State{Object: &meta.Object{JSON: encoded, ItemOffset: k.ItemOffset(), Meta: codec.ExtractMeta(k, object)}, Tree: object}
}

func fieldText(object tree.Tree, path string) string {
	var v any = object
	for name := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case tree.Tree:
			v = at[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(at) {
				return "absent"
			}
			v = at[n]
		default:
			return "absent"
		}
	}
	if v == nil {
		return "absent"
	}
	return string(codec.AppendAny(nil, v))
}

func setBody(m *request.Mutation, body tree.Tree) {
	switch c := m.Change.(type) {
	case request.Update:
		m.Change = request.Update{Object: body}
	case request.Apply:
		c.Config = body
		m.Change = c
	default:
		m.Change = request.Create{Object: body}
	}
}

func readMutation(t *testing.T, line string) request.Mutation {
	t.Helper()
	f := strings.SplitN(line, " ", 3)
	resource, subresource, _ := strings.Cut(f[1], "/")
	k, body := kindNamed(t, resource), f[2]
	m := request.Mutation{Kind: k, Key: meta.Key{Name: "a"}, Subresource: subresource}
	if k.Namespaced {
		m.Key.Namespace = "default"
	}
	verb, strict := strings.CutPrefix(f[0], "strict-")
	if strict {
		m.FieldValidation = request.Strict
	}
	patches := map[string]request.PatchType{"merge": request.MergePatch, "json": request.JSONPatch, "strategic": request.StrategicMergePatch}
	if patch, ok := patches[verb]; ok {
		m.Change = request.Patch{Type: patch, Body: []byte(body)}
		return m
	}
	if verb == "delete" {
		var options request.Delete
		must.Succeed(t, json.Unmarshal([]byte(body), &options))
		m.Change = options
		return m
	}
	m.Change = map[string]request.Change{"create": request.Create{}, "update": request.Update{}}[verb]
	setBody(&m, decode(t, bodyKind(&m), body))
	return m
}

func TestMutations(t *testing.T) {
	for _, c := range cases.Read(t, "testdata/mutations.txt") {
		t.Run(c.Name, func(t *testing.T) {
			kind, text, _ := strings.Cut(c.Lines[0], " ")
			exists := kind == "stored" || kind == "pending"
			if exists {
				c.Lines = c.Lines[1:]
			}
			m := readMutation(t, c.Lines[0])
			var cur State
			if exists {
				cur = stateFrom(t, m.Kind, text, kind == "pending")
			}
			before, _ := tree.Clone(cur.Tree).(tree.Tree)
			got, err := Apply(cur, &m, env)
			if !tree.SemanticEqual(before, cur.Tree) {
				t.Errorf("the current state was changed to %v", cur.Tree)
			}
			checkMutation(t, &m, got, err, c.Lines[1:])
			if err == nil && got.Created == exists {
				t.Errorf("created %v", got.Created)
			}
		})
	}
}

func checkMutation(t *testing.T, m *request.Mutation, got Candidate, err error, want []string) {
	t.Helper()
	result := "=> " + map[Op]string{Put: "put", Remove: "remove", None: "none"}[got.Op]
	var status *meta.Status
	if errors.As(err, &status) {
		result = fmt.Sprintf("=> %d %s", status.Code, status.Reason)
	}
	if result != want[0] || (err != nil) != (status != nil) {
		t.Fatalf("got %s, %v, want %s; %s", result, err, want[0], got.Encoded.JSON)
	}
	var object tree.Tree
	if err == nil && got.Op != None { // the JSON matches the tree except for the version
		object = decode(t, m.Kind, string(got.Encoded.JSON))
		if head := codec.ExtractMeta(m.Kind, object); head.UID != got.Head.UID || head.Terminating != got.Head.Terminating ||
			head.Generation != got.Head.Generation || len(head.Finalizers) != len(got.Head.Finalizers) {
			t.Errorf("the head is %+v, the object says %+v", got.Head, head)
		}
	}
	for _, line := range want[1:] {
		path, value, _ := strings.Cut(line, " ")
		switch {
		case path == "message" && !strings.Contains(status.Message, value):
			t.Errorf("the message is %q, want %q", status.Message, value)
		case path != "message" && fieldText(object, path) != value:
			t.Errorf("%s is %s, want %s", path, fieldText(object, path), value)
		}
	}
}

func TestPatchWarns(t *testing.T) {
	for level, want := range map[request.FieldValidation]int{request.Warn: 1, request.Ignore: 0} {
		m := readMutation(t, `merge configmaps {"dota":{"x":"2"}}`)
		m.FieldValidation, m.Recorder = level, new(request.Recorder)
		got, err := Apply(stateFrom(t, m.Kind, `{"metadata":{"name":"a","namespace":"default"},"data":{"x":"1"}}`, false), &m, env)
		if warnings, _ := m.Recorder.Recorded(); err != nil || got.Op != None || len(warnings) != want {
			t.Errorf("level %d: %+v, %v; want %d warnings", level, got, err, want)
		}
	}
}
