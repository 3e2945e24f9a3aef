package mutation

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// testCase is one mutation of one state and its expected result.
type testCase struct {
	name     string
	resource string
	current  string // JSON; "": no object
	pending  bool   // the current state is not committed yet
	m        request.Mutation
	body     string // of a create or an update
	// The outcome: an operation and fields of the state by path, "" for absent ones, or a code,
	// reason and part of the message.
	op     Op
	fields map[string]string
	code   int
	reason meta.Reason
	says   string
}

const currentVersion = 5

var env = Env{
	Now:    time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	NewUID: func() string { return "new-uid" },
}

func kindNamed(t testing.TB, resource string) *schema.Kind {
	t.Helper()
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	k := cmp.Or(kinds.Kind("", "v1", resource), kinds.Kind("apps", "v1", resource))
	if k == nil {
		t.Fatalf("no kind %s", resource)
	}
	return k
}

func decode(t *testing.T, k *schema.Kind, text string) tree.Tree {
	t.Helper()
	object, faults, err := codec.DecodeJSON(k.Message(), []byte(text))
	if err != nil || len(faults) > 0 {
		t.Fatalf("%s: %v %v", text, faults, err)
	}
	return object
}

// state returns an object at currentVersion.
func (c *testCase) state(t *testing.T, k *schema.Kind) State {
	t.Helper()
	if c.current == "" {
		return State{}
	}
	wanted := decode(t, k, c.current)
	rules.Default(k, wanted)
	if k.Writes.Deletion == schema.DeleteGracefully { // a Pod has the fields of its creation and a later status
		created := tree.Clone(wanted).(tree.Tree)
		k.Preparer.Prepare(created, nil)
		wanted["spec"] = created["spec"]
	}
	encoded := codec.EncodeJSON(k, wanted)
	version := strconv.Itoa(currentVersion)
	if c.pending {
		version = ""
	}
	json := string(encoded.JSON[:encoded.VersionOffset]) + version + string(encoded.JSON[encoded.VersionOffset:])
	object := decode(t, k, json)
	o := &meta.Object{JSON: []byte(json), ItemOffset: k.ItemOffset(), Meta: codec.ExtractMeta(k, object)}
	if !c.pending {
		o.Version = currentVersion
	}
	return State{Object: o, Tree: object, Committed: !c.pending}
}

// fieldText returns the field at a path such as "metadata.labels.a" as JSON; "" if it is absent.
func fieldText(object tree.Tree, path string) string {
	var v any = object
	for name := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case tree.Tree:
			v = at[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(at) {
				return ""
			}
			v = at[n]
		default:
			return ""
		}
	}
	if v == nil {
		return ""
	}
	return string(codec.AppendAny(nil, v))
}

// setBody gives a mutation a body, and makes it a create by default.
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

func (c *testCase) run(t *testing.T) {
	k := kindNamed(t, c.resource)
	cur := c.state(t, k)
	before, _ := tree.Clone(cur.Tree).(tree.Tree)
	m := c.m
	m.Kind = k
	if m.Key.Name == "" {
		m.Key.Name = "a"
	}
	if k.Namespaced {
		m.Key.Namespace = "default"
	}
	if c.body != "" {
		setBody(&m, decode(t, bodyKind(&m), c.body))
	}
	got, err := Apply(cur, &m, env)
	if !tree.SemanticEqual(before, cur.Tree) {
		t.Errorf("the current state was changed to %v", cur.Tree)
	}
	var status *meta.Status
	if errors.As(err, &status) {
		if status.Code != c.code || status.Reason != c.reason || !strings.Contains(status.Message, c.says) {
			t.Errorf("got %d %s %q, want %d %s %q", status.Code, status.Reason, status.Message, c.code, c.reason, c.says)
		}
		return
	}
	if err != nil || c.code != 0 {
		t.Fatalf("got no Status but %v, want %d %s; %s", err, c.code, c.reason, got.Encoded.JSON)
	}
	c.compare(t, k, got)
}

func (c *testCase) compare(t *testing.T, k *schema.Kind, got Candidate) {
	t.Helper()
	if got.Op != c.op || got.Created != (c.current == "") {
		t.Errorf("op %d, created %v; want op %d", got.Op, got.Created, c.op)
	}
	if got.Op == None {
		return
	}
	// The encoding matches the tree, and lacks only the version.
	tree, _, err := codec.DecodeJSON(k.Message(), got.Encoded.JSON)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range c.fields {
		if is := fieldText(tree, path); is != want {
			t.Errorf("%s is %s, want %s", path, is, want)
		}
	}
	if head := codec.ExtractMeta(k, tree); head.UID != got.Head.UID || head.Terminating != got.Head.Terminating ||
		head.Generation != got.Head.Generation || len(head.Finalizers) != len(got.Head.Finalizers) {
		t.Errorf("the head is %+v, the object says %+v", got.Head, head)
	}
}

func runAll(t *testing.T, checks []testCase) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, c.run)
	}
}

// Config maps are the plain kind: no status, no generation, no grace.
const plainConfigMap = `{"metadata":{"name":"a","namespace":"default","uid":"u1","creationTimestamp":"2029-01-01T00:00:00Z"},"data":{"x":"1"}}`

const plainController = `{"metadata":{"name":"a","namespace":"default","uid":"u1","creationTimestamp":"2029-01-01T00:00:00Z"},
	"spec":{"selector":{"x":"y"},"template":{"metadata":{"labels":{"x":"y"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`

const defaultedController = `{"metadata":{"name":"a","namespace":"default","uid":"u1","creationTimestamp":"2029-01-01T00:00:00Z","generation":3},
	"spec":{"replicas":1,"selector":{"x":"y"},"template":{"metadata":{"labels":{"x":"y"}},
	"spec":{"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler","containers":[{"name":"c","image":"i",
	"resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"}]}}},"status":{"replicas":0}}`

func withMetadata(object, more string) string {
	return strings.Replace(object, `"metadata":{`, `"metadata":{`+more+`,`, 1)
}

func TestCreate(t *testing.T) {
	create := request.Mutation{Change: request.Create{}}
	runAll(t, []testCase{
		{name: "fresh", resource: "configmaps", m: create, body: `{"data":{"x":"1"}}`, op: Put, fields: map[string]string{
			"metadata.name": `"a"`, "metadata.namespace": `"default"`, "metadata.uid": `"new-uid"`,
			"metadata.creationTimestamp": `"2030-01-02T03:04:05Z"`, "data.x": `"1"`, "metadata.generation": ""}},
		{name: "the server's fields are its own", resource: "configmaps", m: create,
			body: `{"metadata":{"uid":"mine","creationTimestamp":"1999-01-01T00:00:00Z","generation":7,"deletionTimestamp":"1999-01-01T00:00:00Z",
				"deletionGracePeriodSeconds":3,"selfLink":"/x","finalizers":["a.b/c"]}}`,
			op: Put, fields: map[string]string{
				"metadata.uid": `"new-uid"`, "metadata.creationTimestamp": `"2030-01-02T03:04:05Z"`, "metadata.generation": "7",
				"metadata.deletionTimestamp": "", "metadata.deletionGracePeriodSeconds": "", "metadata.selfLink": "",
				"metadata.finalizers": `["a.b/c"]`}},
		{name: "exists, and what is sent is not valid", resource: "configmaps", current: plainConfigMap, m: create, body: `{"data":{"a b":"c"}}`, code: 422, reason: meta.ReasonInvalid, says: `a b`},
		{name: "exists", resource: "configmaps", current: plainConfigMap, m: create, body: `{}`, code: 409, reason: meta.ReasonAlreadyExists, says: `configmaps "a" already exists`},
		{name: "a version", resource: "configmaps", m: create, body: `{"metadata":{"resourceVersion":"1"}}`, code: 400, reason: meta.ReasonBadRequest},
		{name: "invalid", resource: "configmaps", m: create, body: `{"data":{"a/b":"1"}}`, code: 422, reason: meta.ReasonInvalid, says: "data[a/b]"},
		{name: "generation begins with 1", resource: "pods", m: create, body: podSpec, op: Put, fields: map[string]string{
			"metadata.generation": "1", "status.phase": `"Pending"`, "spec.restartPolicy": `"Always"`}},
		{name: "no status from clients", resource: "pods", m: create, body: strings.Replace(podSpec, `{`, `{"status":{"phase":"Running","podIP":"1.2.3.4"},`, 1),
			op: Put, fields: map[string]string{"status.phase": `"Pending"`, "status.podIP": ""}},
		{name: "no status from clients, where the kind drops it", resource: "deployments", m: create,
			body: `{"status":{"observedGeneration":3},"spec":{"selector":{"matchLabels":{"x":"y"}},"template":{"metadata":{"labels":{"x":"y"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
			op:   Put, fields: map[string]string{"status.observedGeneration": ""}},
		{name: "namespaces get their finalizer", resource: "namespaces", m: create, body: `{}`, op: Put, fields: map[string]string{
			"spec.finalizers": `["` + meta.Platform.NamespaceFinalizer() + `"]`, "status.phase": `"Active"`}},
	})
}

func TestUpdate(t *testing.T) {
	update := request.Mutation{Change: request.Update{}}
	runAll(t, []testCase{
		{name: "data", resource: "configmaps", current: plainConfigMap, m: update, body: `{"metadata":{"name":"a"},"data":{"y":"2"}}`, op: Put,
			fields: map[string]string{"data.x": "", "data.y": `"2"`, "metadata.uid": `"u1"`, "metadata.creationTimestamp": `"2029-01-01T00:00:00Z"`}},
		{name: "a setting that is false is no setting that is left out", resource: "replicationcontrollers", current: defaultedController, m: update,
			body: strings.Replace(defaultedController, `"containers"`, `"hostUsers":false,"containers"`, 1), op: Put, fields: map[string]string{"metadata.generation": "4"}},
		{name: "an empty list is one that is left out", resource: "replicationcontrollers", current: defaultedController, m: update,
			body: strings.Replace(defaultedController, `"containers"`, `"hostNetwork":false,"tolerations":[],"containers"`, 1), op: None},
		{name: "the same", resource: "configmaps", current: plainConfigMap, m: update, body: plainConfigMap, op: None},
		{name: "the same with its version", resource: "configmaps", current: plainConfigMap, m: update, body: withMetadata(plainConfigMap, `"resourceVersion":"5"`), op: None},
		{name: "the same without what the server adds", resource: "configmaps", current: plainConfigMap, m: update, body: `{"data":{"x":"1"}}`, op: None},
		{name: "another version", resource: "configmaps", current: plainConfigMap, m: update, body: withMetadata(plainConfigMap, `"resourceVersion":"4"`),
			code: 409, reason: meta.ReasonConflict, says: "the object has been modified"},
		{name: "a later version", resource: "configmaps", current: plainConfigMap, m: update, body: withMetadata(plainConfigMap, `"resourceVersion":"6"`), code: 409, reason: meta.ReasonConflict},
		{name: "a version while one is on its way", resource: "configmaps", current: plainConfigMap, pending: true, m: update,
			body: withMetadata(plainConfigMap, `"resourceVersion":"5"`), code: 409, reason: meta.ReasonConflict},
		{name: "no version while one is on its way", resource: "configmaps", current: plainConfigMap, pending: true, m: update, body: `{"data":{"x":"2"}}`,
			op: Put, fields: map[string]string{"data.x": `"2"`}},
		{name: "no number", resource: "configmaps", current: plainConfigMap, m: update, body: withMetadata(plainConfigMap, `"resourceVersion":"x"`), code: 422, reason: meta.ReasonInvalid},
		{name: "another uid", resource: "configmaps", current: plainConfigMap, m: update, body: strings.Replace(plainConfigMap, "u1", "u2", 1),
			code: 409, reason: meta.ReasonConflict, says: "UID in precondition: u2, UID in object meta: u1"},
		{name: "another name", resource: "configmaps", current: plainConfigMap, m: update, body: strings.Replace(plainConfigMap, `"name":"a"`, `"name":"b"`, 1),
			code: 422, reason: meta.ReasonInvalid, says: "metadata.name"},
		{name: "another namespace", resource: "configmaps", current: plainConfigMap, m: update, body: strings.Replace(plainConfigMap, `"default"`, `"other"`, 1),
			code: 400, reason: meta.ReasonBadRequest, says: "does not match the namespace"},
		{name: "absent", resource: "configmaps", m: update, body: plainConfigMap, code: 404, reason: meta.ReasonNotFound, says: `configmaps "a" not found`},
		{name: "the server's fields are its own", resource: "configmaps", current: plainConfigMap, m: update,
			body: `{"metadata":{"uid":"","creationTimestamp":"1999-01-01T00:00:00Z","generation":9,"selfLink":"/x"},"data":{"x":"1"}}`, op: None},
		{name: "only a delete begins a deletion", resource: "configmaps", current: plainConfigMap, m: update,
			body: `{"metadata":{"deletionTimestamp":"1999-01-01T00:00:00Z"},"data":{"x":"1"}}`, code: 422, reason: meta.ReasonInvalid, says: "metadata.deletionTimestamp"},
		{name: "nor a time to end", resource: "configmaps", current: plainConfigMap, m: update,
			body: `{"metadata":{"deletionGracePeriodSeconds":5},"data":{"x":"1"}}`, code: 422, reason: meta.ReasonInvalid, says: "metadata.deletionGracePeriodSeconds"},
		{name: "the prefix of a name is the client's", resource: "configmaps", current: plainConfigMap, m: update,
			body: `{"metadata":{"generateName":"b-"},"data":{"x":"1"}}`, op: Put, fields: map[string]string{"metadata.generateName": `"b-"`}},
		{name: "a namespace, where there is none", resource: "nodes", current: `{"metadata":{"name":"a","uid":"u1","creationTimestamp":"2029-01-01T00:00:00Z"},"spec":{}}`, m: update,
			body: `{"metadata":{"namespace":"other","labels":{"a":"b"}}}`, op: Put, fields: map[string]string{"metadata.namespace": "", "metadata.labels": `{"a":"b"}`}},
		{name: "immutable", resource: "configmaps", current: strings.Replace(plainConfigMap, `"data"`, `"immutable":true,"data"`, 1), m: update,
			body: `{"immutable":true,"data":{"x":"2"}}`, code: 422, reason: meta.ReasonInvalid, says: "immutable"},
		{name: "a secret's type", resource: "secrets", current: strings.Replace(plainConfigMap, `"data":{"x":"1"}`, `"type":"a"`, 1), m: update,
			body: `{"type":"b"}`, code: 422, reason: meta.ReasonInvalid, says: "type"},
	})
}
