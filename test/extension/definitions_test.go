package extension

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/public"
)

const (
	path                = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	definitionTypeApply = "application/apply-patch+yaml"
	// mostExamples limits the examples per kind, because some projects have hundreds of them.
	mostExamples = 12
)

// A kind describes the storage version of a CRD.
type kind struct {
	group, version, plural, name string
	namespaced, isolatedStatus   bool
	schema                       *public.Schema
	created                      int
}

func (k *kind) path() string {
	if k.namespaced {
		return fmt.Sprintf("/apis/%s/%s/namespaces/default/%s", k.group, k.version, k.plural)
	}
	return fmt.Sprintf("/apis/%s/%s/%s", k.group, k.version, k.plural)
}

// newKind returns the kind that a CRD defines, or nil if the test cannot create such objects.
func newKind(t *testing.T, definition definitionObject) *kind {
	t.Helper()
	spec := definition["spec"].(map[string]any)
	names := spec["names"].(map[string]any)
	for _, v := range spec["versions"].([]any) {
		v := v.(map[string]any)
		if v["storage"] != true || v["served"] != true {
			continue
		}
		text, _ := json.Marshal(v["schema"].(map[string]any)["openAPIV3Schema"])
		schema, err := public.NewSchema(text)
		if err != nil {
			t.Fatal(err)
		}
		subresources, _ := v["subresources"].(map[string]any)
		return &kind{
			group: spec["group"].(string), version: v["name"].(string), plural: names["plural"].(string), name: names["kind"].(string),
			namespaced: spec["scope"] == "Namespaced", isolatedStatus: subresources["status"] != nil, schema: schema,
		}
	}
	return nil
}

// TestProjects creates the CRDs of each project, and its example objects in the storage versions of
// these CRDs.
func TestProjects(t *testing.T) {
	t.Parallel()
	all := modules
	if os.Getenv("TROUPE_SOAK") != "" {
		all = append(slices.Clone(modules), moreModules...)
	}
	for _, folder := range fetch(t, all) {
		t.Run(filepath.Base(filepath.Dir(folder))+"/"+filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
			testProject(suite{s}, read(t, folder))
		})
	}
}

// A suite tests the CRDs and examples of one project.
type suite struct{ client.Session }

func testProject(s suite, p project) {
	kinds := map[string]*kind{}
	for _, d := range p.definitions {
		s.Send(201, "POST", path, client.JSON, d.json())
		if k := newKind(s.T, d); k != nil {
			kinds[k.group+"/"+k.version+"/"+k.name] = k
			s.explain(k)
		}
	}
	tried := map[*kind]int{}
	for i, o := range p.examples {
		k := kinds[o.text("apiVersion")+"/"+o.text("kind")]
		if k == nil || tried[k] == mostExamples {
			continue
		}
		tried[k]++
		metadata, _ := o["metadata"].(map[string]any)
		kept := map[string]any{"name": fmt.Sprint("example-", i)}
		for _, name := range []string{"labels", "annotations"} {
			if metadata[name] != nil {
				kept[name] = metadata[name]
			}
		}
		o["metadata"] = kept
		if shaped := s.create(k, o); shaped != nil {
			s.applyTwice(k, o, shaped)
		}
	}
	for k := range tried {
		s.list(k)
	}
	s.T.Logf("%d definitions, examples of %d kinds", len(p.definitions), len(tried))
}

// explain checks that OpenAPI v3 contains the schema for kubectl explain.
func (s suite) explain(k *kind) {
	s.T.Helper()
	text := s.Send(200, "GET", "/openapi/v3/apis/"+k.group+"/"+k.version, "", "").String()
	if marker := fmt.Sprintf(`"group":%q,"kind":%q,"version":%q`, k.group, k.name, k.version); !strings.Contains(strings.ReplaceAll(text, " ", ""), marker) {
		s.T.Errorf("%s is not published", k.plural)
	}
}

// create creates an example and compares the result with the reference implementation. It returns
// the object after defaulting and pruning, or nil if the example was rejected.
func (s suite) create(k *kind, o definitionObject) definitionObject {
	s.T.Helper()
	want := map[string]any{}
	if err := utiljson.Unmarshal([]byte(o.json()), &want); err != nil { // the libraries require integers, not floats, for whole numbers
		s.T.Fatal(err)
	}
	if k.isolatedStatus {
		delete(want, "status")
	}
	k.schema.Shape(want)
	errs, _ := k.schema.Validate(s.Ctx, want)
	answer, err := s.Do(s.Ctx, "POST", k.path(), client.JSON, []byte(o.json()))
	if err != nil {
		s.T.Fatal(err)
	}
	if len(errs) > 0 {
		if answer.Code != 422 {
			s.T.Errorf("%s: %s, want %v", o.json(), answer, errs)
		}
		return nil
	}
	if answer.Code != 201 {
		s.T.Errorf("%s: %s", o.json(), answer)
		return nil
	}
	k.created++
	got := map[string]any(answer.Object())
	delete(got, "metadata")
	delete(want, "metadata")
	shaped := definitionObject(want)
	if got, want := definitionObject(got).json(), shaped.json(); got != want {
		s.T.Errorf("%s becomes\n%s, want\n%s", o.json(), got, want)
	}
	shaped["metadata"] = o["metadata"]
	return shaped
}

// applyTwice applies an example with two managers. The second apply by the second manager must be a
// no-op. If the server rejects fields that a create would prune, the test applies shaped instead,
// the example after defaulting and pruning.
func (s suite) applyTwice(k *kind, o, shaped definitionObject) {
	s.T.Helper()
	at := k.path() + "/" + o.text("metadata", "name")
	send := func(manager string) client.Answer {
		answer, err := s.Do(s.Ctx, "PATCH", at+"?force=true&fieldManager="+manager, definitionTypeApply, []byte(o.json()))
		if err != nil {
			s.T.Fatal(err)
		}
		return answer
	}
	first := send("one")
	if first.Code == 400 && strings.Contains(first.String(), "field not declared in schema") || first.Code == 422 && strings.Contains(first.String(), `\"null\"`) {
		o = shaped
		first = send("one")
	}
	second := send("two")
	again := send("two")
	if first.Code != 200 || second.Code != 200 || again.Code != 200 {
		s.T.Errorf("apply of %s: %s, %s, %s", o.json(), first, second, again)
		return
	}
	if again.Object().Version() != second.Object().Version() {
		s.T.Errorf("%s: version %d after %d, where nothing changed", o.json(), again.Object().Version(), second.Object().Version())
	}
	if owned := second.Object().Metadata()["managedFields"]; len(o) > 3 && !strings.Contains(fmt.Sprint(owned), "manager:two") {
		s.T.Errorf("%s: two owns nothing: %v", o.json(), owned)
	}
}

// list lists and watches the objects of a kind, and lists them as a Table.
func (s suite) list(k *kind) {
	s.T.Helper()
	list, err := s.List(s.Ctx, k.path(), nil)
	if err != nil || len(list.Items) != k.created {
		s.T.Errorf("%s: %d, want %d, %v", k.plural, len(list.Items), k.created, err)
	}
	table, err := s.GetAs(s.Ctx, k.path(), "application/json;as=Table;g=meta.k8s.io;v=v1")
	if rows, _ := table.Object()["rows"].([]any); err != nil || len(rows) != k.created {
		s.T.Errorf("%s: a table of %d rows, want %d, %v", k.plural, len(rows), k.created, err)
	}
	w, err := s.Watch(s.Ctx, k.path(), url.Values{"resourceVersion": {"0"}})
	if err != nil {
		s.T.Fatal(err)
	}
	defer w.Close()
	for i := range k.created {
		if event, err := w.Next(); err != nil || event.Type != "ADDED" {
			s.T.Fatalf("%s: event %d: %v, %v", k.plural, i, event, err)
		}
	}
}
