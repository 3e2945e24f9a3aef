package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// shortDefined is the number of random kinds covered by "make test".
const shortDefined = 40

// TestDefinitions writes objects with random schemas over HTTP while the schemas change list types
// and map types. The objects and managed fields must equal those of the oracle.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) { c.Naming = "kubernetes" })
	first, _ := strconv.ParseInt(cmp.Or(os.Getenv("TROUPE_SEED"), "0"), 10, 64)
	defined := 0
	for n := range client.Rounds(t, shortDefined, 1) {
		seed := first + int64(n)
		r := SchemaGenerator{rand.New(rand.NewSource(seed))}
		d := &scenario{T: t, Server: s, r: r, schema: r.Root(), group: fmt.Sprintf("g%d.example.com", seed)}
		d.play(seed)
		if t.Failed() {
			return
		}
		defined++
	}
	client.Figures(t, "%d kinds were defined at random, and owned in changing ways", defined)
}

// A scenario is the history of one object and its CRD, in this server and in the oracle.
type scenario struct {
	*testing.T
	*client.Server
	r        SchemaGenerator
	schema   shape
	group    string
	expected *unstructured.Unstructured
	oracle   *managedfields.FieldManager
	version  string // resource version of our object
	steps    []string
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func (d *scenario) play(seed int64) {
	d.define()
	d.write("one", d.withLastApplied(d.randomObject()))
	d.compare()
	for i := range 10 {
		manager := []string{"one", "two", ownershipKubectl}[d.r.Intn(3)]
		switch d.r.Intn(8) {
		case 0, 1:
			d.write(manager, d.withLastApplied(d.randomObject()))
		case 2:
			d.schema = d.r.ChangeListTypes(d.schema)
			d.define()
		case 3:
			d.upgrade("one")
		default:
			d.apply(manager, d.randomObject(), d.r.Intn(2) == 0)
		}
		if d.compare(); d.Failed() {
			d.Fatalf("seed %d step %d\n%s", seed, i, strings.Join(d.steps, "\n"))
		}
	}
	d.ask(http.MethodDelete, definitions+"/widgets."+d.group, "", nil)
}

func (d *scenario) kind() kschema.GroupVersionKind {
	return kschema.GroupVersionKind{Group: d.group, Version: "v1", Kind: "Widget"}
}

func (d *scenario) path() string { return "/apis/" + d.group + "/v1/namespaces/default/widgets" }

func (d *scenario) randomObject() map[string]any {
	o, _ := d.r.Value(d.schema, 0).(map[string]any)
	o = maps.Clone(o)
	metadata := map[string]any{"name": "a", "namespace": "default"}
	if d.r.Intn(2) == 0 {
		metadata["labels"] = map[string]any{d.r.word(): d.r.word()}
	}
	o["apiVersion"], o["kind"], o["metadata"] = d.group+"/v1", "Widget", metadata
	return o
}

// withLastApplied returns a copy of an object. It usually adds the client-side apply annotation,
// which contains the object, a random object, or the existing value.
func (d *scenario) withLastApplied(o map[string]any) map[string]any {
	d.Helper()
	recorded := o
	switch d.r.Intn(4) {
	case 0:
		recorded = d.randomObject()
	case 1:
		return o
	}
	text := client.Encode(d, recorded)
	o, metadata := maps.Clone(o), maps.Clone(o["metadata"].(map[string]any))
	o["metadata"], metadata["annotations"] = metadata, map[string]any{ownershipLastApplied: string(text) + "\n"}
	if live := d.live().GetAnnotations()[ownershipLastApplied]; live != "" && d.r.Intn(3) == 0 {
		metadata["annotations"] = map[string]any{ownershipLastApplied: live}
	}
	return o
}

// upgrade transfers a manager's fields to server-side apply, as kubectl does when it migrates an
// object from client-side apply.
func (d *scenario) upgrade(manager string) {
	d.Helper()
	d.step("upgrade %s", manager)
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(d.held(), sets.New(manager), ownershipKubectl)
	if err != nil {
		d.Fatal(err)
	}
	if patch == nil {
		return
	}
	if answer := d.ask(http.MethodPatch, d.path()+"/a?fieldManager="+ownershipKubectl, client.JSONPatch, json.RawMessage(patch)); answer.Code != 200 {
		d.Errorf("%s", answer)
	}
	next := d.live()
	if err := csaupgrade.UpgradeManagedFields(next, sets.New(manager), ownershipKubectl); err != nil {
		d.Fatal(err)
	}
	after, err := d.oracle.Update(d.live(), next, ownershipKubectl)
	if err != nil {
		d.Fatal(err)
	}
	d.setExpected(after)
}

func (d *scenario) held() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: d.ask(http.MethodGet, d.path()+"/a", "", nil).Object()}
}

func (d *scenario) ask(method, path, contentType string, body any) client.Answer {
	d.Helper()
	text := client.Encode(d, body)
	answer, err := d.Do(context.Background(), method, path, contentType, text)
	if err != nil {
		d.Fatal(err)
	}
	if len(d.steps) > 0 {
		d.steps[len(d.steps)-1] += fmt.Sprint(" → ", answer.Code)
	}
	return answer
}

func (d *scenario) step(format string, args ...any) {
	d.steps = append(d.steps, fmt.Sprintf(format, args...))
}

func (d *scenario) define() {
	d.Helper()
	object := map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets." + d.group},
		"spec": map[string]any{"group": d.group, "scope": "Namespaced", "names": map[string]any{"plural": "widgets", "kind": "Widget"}, "versions": []any{
			map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": d.schema}}}}}
	text := client.Encode(d, d.schema)
	d.step("schema %s", text)
	if d.oracle == nil {
		if answer := d.ask(http.MethodPost, definitions, client.JSON, object); answer.Code != 201 {
			d.Fatal(answer)
		}
	} else {
		patch := map[string]any{"spec": object["spec"]}
		if answer := d.ask(http.MethodPatch, definitions+"/widgets."+d.group, client.MergePatch, patch); answer.Code != 200 {
			d.Fatal(answer)
		}
	}
	d.oracle = d.manager()
}

func (d *scenario) manager() *managedfields.FieldManager {
	d.Helper()
	structural := d.structural()
	types, err := managedfields.NewTypeConverter(d.models(structural), false)
	if err != nil {
		d.Fatal(err)
	}
	m, err := managedfields.NewDefaultCRDFieldManager(types, singleVersion{}, singleVersion{structural}, singleVersion{}, d.kind(), d.kind().GroupVersion(), "", nil)
	if err != nil {
		d.Fatal(err)
	}
	return m
}

func (d *scenario) live() *unstructured.Unstructured {
	if d.expected == nil {
		out := &unstructured.Unstructured{Object: map[string]any{}}
		out.SetGroupVersionKind(d.kind())
		return out
	}
	return d.expected.DeepCopy()
}

func (d *scenario) setExpected(o runtime.Object) {
	d.expected = o.(*unstructured.Unstructured)
	d.expected.SetUID("u")
}

// withoutNulls removes nulls from objects. When an applier gives up all fields of an object without
// a schema, the oracle leaves a null in its place.
func withoutNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if withoutNulls(below); below == nil {
				delete(v, name)
			}
		}
	case []any:
		for _, below := range v {
			withoutNulls(below)
		}
	}
}

func (d *scenario) write(manager string, o map[string]any) {
	d.Helper()
	text, _ := json.Marshal(o)
	d.step("%s writes %s", manager, text)
	method, path, code := http.MethodPut, d.path()+"/a", 200
	sent := runtime.DeepCopyJSON(o)
	sent["metadata"].(map[string]any)["resourceVersion"] = d.version
	if d.expected == nil {
		method, path, code = http.MethodPost, d.path(), 201
	}
	answer := d.ask(method, path+"?fieldManager="+manager, client.JSON, sent)
	if answer.Code != code {
		d.Errorf("%s", answer)
		return
	}
	if answer.Object().Metadata()["resourceVersion"] == d.version {
		return // no change, so nothing was written
	}
	next := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o)}
	if d.expected != nil {
		next.SetUID("u")
	}
	after, err := d.oracle.Update(d.live(), next, manager)
	if err != nil {
		d.Fatal(err)
	}
	d.setExpected(after)
}

func (d *scenario) apply(manager string, o map[string]any, force bool) {
	d.Helper()
	text, _ := json.Marshal(o)
	d.step("%s applies (%t) %s", manager, force, text)
	answer := d.ask(http.MethodPatch, fmt.Sprintf("%s/a?fieldManager=%s&force=%t", d.path(), manager, force), "application/apply-patch+yaml", o)
	after, err := d.oracle.Apply(d.live(), &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o)}, manager, force)
	ours := ""
	if answer.Code == http.StatusUnprocessableEntity && err == nil {
		return // the result is invalid; the oracle does not validate
	}
	if answer.Code > 299 {
		ours, _ = answer.Object()["message"].(string)
	}
	wanted := ""
	if err != nil {
		wanted = err.Error()
	}
	if sortedOwnership(ours) != sortedOwnership(wanted) {
		d.Errorf("the answer is %d %s\nwant %s", answer.Code, ours, wanted)
	}
	if err != nil || answer.Code != 200 {
		return
	}
	if d.expected != nil && len(d.expected.GetManagedFields()) == 0 && len(answer.Object().Metadata()["managedFields"].([]any)) == 0 {
		return
	}
	d.setExpected(after)
	explicit(d.schema, d.expected.Object, o)
	d.unchanged("apply again", answer, d.ask(http.MethodPatch, d.path()+"/a?fieldManager="+manager, "application/apply-patch+yaml", o))
	d.unchanged("update", answer, d.ask(http.MethodPut, d.path()+"/a?fieldManager=reader", client.JSON, d.held().Object))
	d.unchanged("apply after an update", answer, d.ask(http.MethodPatch, d.path()+"/a?fieldManager="+manager, "application/apply-patch+yaml", o))
}

func (d *scenario) unchanged(label string, was, now client.Answer) {
	d.Helper()
	if now.Code != 200 || now.Object().String() != was.Object().String() {
		d.Errorf("%s: %s\nhas become\n%s", label, was, now)
	}
}

func sortedOwnership(text string) string {
	all := strings.Split(text, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func (d *scenario) compare() {
	d.Helper()
	ours := map[string]any(d.ask(http.MethodGet, d.path()+"/a", "", nil).Object())
	d.version, _ = client.Object(ours).Metadata()["resourceVersion"].(string)
	got, gotOwners := aside(ours)
	want, owners := aside(d.expected.Object)
	if got != want {
		d.Errorf("the object is\n%s, want\n%s", got, want)
	}
	if !slices.Equal(gotOwners, owners) {
		d.Errorf("the owners of %s are\n%s\nwant\n%s", got, strings.Join(gotOwners, "\n"), strings.Join(owners, "\n"))
	}
}

// aside returns an object's JSON without server-set metadata, and its managed fields separately.
func aside(o map[string]any) (string, []string) {
	text, _ := json.Marshal(o)
	out := map[string]any{}
	_ = json.Unmarshal(text, &out)
	metadata, _ := out["metadata"].(map[string]any)
	var owners []string
	managed, _ := metadata["managedFields"].([]any)
	for _, v := range managed {
		entry := v.(map[string]any)
		fields, _ := json.Marshal(entry["fieldsV1"])
		owners = append(owners, fmt.Sprint(entry["manager"], " ", entry["operation"], " ", string(fields)))
	}
	slices.Sort(owners)
	for _, name := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp", "generation"} {
		delete(metadata, name)
	}
	text, _ = json.Marshal(out)
	return string(text), owners
}
