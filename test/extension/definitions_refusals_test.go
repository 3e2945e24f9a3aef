package extension

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// An edit replaces the value at a path in a CRD, or the whole CRD if path is empty. An empty value
// removes the field.
type edit struct{ path, value string }

func (e edit) apply(t *testing.T, at any) any {
	t.Helper()
	if e.path == "" {
		if e.value == "" {
			return nil
		}
		var v any
		if err := json.Unmarshal([]byte(e.value), &v); err != nil {
			t.Fatalf("%s: %v", e.value, err)
		}
		return v
	}
	name, rest, _ := strings.Cut(e.path, ".")
	switch at := at.(type) {
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil {
			t.Fatal(err)
		}
		at[i] = edit{rest, e.value}.apply(t, at[i])
	case map[string]any:
		if at[name] = (edit{rest, e.value}).apply(t, at[name]); at[name] == nil {
			delete(at, name)
		}
	case nil:
		return map[string]any{name: edit{rest, e.value}.apply(t, nil)}
	}
	return at
}

func edited(t *testing.T, edits []edit) definitionObject {
	t.Helper()
	var o any
	if err := yaml.Unmarshal(client.ReadFile(t, "testdata/definitions/gadgets.yaml"), &o); err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		o = edit{definitionPaths.Replace(e.path), e.value}.apply(t, o)
	}
	return o.(map[string]any)
}

// publicDefinition decodes a CRD into the internal type of k8s.io/apiextensions-apiserver.
func publicDefinition(t *testing.T, o definitionObject) *apiextensions.CustomResourceDefinition {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	var external v1.CustomResourceDefinition
	if err := json.Unmarshal([]byte(o.json()), &external); err != nil {
		t.Fatalf("%s: %v", o.json(), err)
	}
	scheme.Default(&external)
	var internal apiextensions.CustomResourceDefinition
	if err := scheme.Convert(&external, &internal, nil); err != nil {
		t.Fatal(err)
	}
	return &internal
}

// store adds the storage version to storedVersions, as kube-apiserver does.
func store(d *apiextensions.CustomResourceDefinition) {
	for _, v := range d.Spec.Versions {
		if v.Storage && !slices.Contains(d.Status.StoredVersions, v.Name) {
			d.Status.StoredVersions = append(d.Status.StoredVersions, v.Name)
			return
		}
	}
}

// largeValue matches an object or a list of objects in an error message. The reference
// implementation prints such values in Go syntax, and Troupe prints them as sent.
var largeValue = regexp.MustCompile(`(Invalid value: )(\{.*\}|\[\{.*\}\])(: )`)

// definitionTypeName matches the type name of self in an error message. The reference
// implementation generates a new name for each compilation.
var definitionTypeName = regexp.MustCompile(`selfType\d+|@self(\.\w+)*`)

// comparableText removes intended differences from an error message.
func comparableText(text string) string {
	return definitionTypeName.ReplaceAllString(largeValue.ReplaceAllString(text, "$1…$3"), "self")
}

// causesDefinitions formats the causes of an error response, if any.
func causesDefinitions(answer client.Answer) (all []string) {
	details, _ := answer.Object()["details"].(map[string]any)
	list, _ := details["causes"].([]any)
	for _, c := range list {
		c := definitionObject(c.(map[string]any))
		all = append(all, c.text("field")+": "+c.text("reason")+": "+comparableText(c.text("message")))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// publicCauses formats errors of the reference implementation in the same way.
func publicCauses(errs field.ErrorList) (all []string) {
	for _, e := range errs {
		if isRepeated(e) {
			continue
		}
		all = append(all, e.Field+": "+string(e.Type)+": "+comparableText(e.ErrorBody()))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// isRepeated reports whether e repeats another error. The reference implementation reports a
// fraction in an integer twice.
func isRepeated(e *field.Error) bool {
	return strings.HasPrefix(e.Detail, "Checked value must be of type integer")
}

// panics calls validate and reports whether it panicked. The reference implementation panics on
// selectable fields of a non-structural schema.
func panics(validate func() field.ErrorList) (errs field.ErrorList, panicked bool) {
	defer func() { panicked = recover() != nil }()
	return validate(), false
}

// expectCauses compares an error response with the errors of the reference implementation.
func expectCauses(t *testing.T, title string, answer client.Answer, validate func() field.ErrorList) {
	t.Helper()
	errs, panicked := panics(validate)
	got, want := causesDefinitions(answer), publicCauses(errs)
	if panicked {
		if answer.Code != 422 {
			t.Errorf("%s: %s, want 422", title, answer)
		}
		return
	}
	if refused := answer.Code != 200 && answer.Code != 201; refused != (len(want) > 0) || !slices.Equal(got, want) {
		t.Errorf("%s: %d\n\t%s\nwant\n\t%s", title, answer.Code, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// definitionPaths expands the abbreviated paths of edits.
var definitionPaths = func() *strings.Replacer {
	const version, spec = "spec.versions.0", "spec.versions.0.schema.openAPIV3Schema.properties.spec"
	var names []string
	for _, name := range strings.Fields("size color list parts") {
		names = append(names, "$"+name, spec+".properties."+name)
	}
	return strings.NewReplacer(append(names, "$version", version, "$root", version+".schema.openAPIV3Schema", "$spec", spec)...)
}()

// repetition matches <<N TEXT>>, which stands for N copies of TEXT, and <<N, TEXT>>, which
// separates the copies with commas. Each # in TEXT is replaced with the index of the copy.
var repetition = regexp.MustCompile(`<<(\d+)(,?) (.*?)>>`)

func repeated(text string) string {
	return repetition.ReplaceAllStringFunc(text, func(match string) string {
		m := repetition.FindStringSubmatch(match)
		n, _ := strconv.Atoi(m[1])
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(m[3], "#", strconv.Itoa(i))
		}
		return strings.Join(parts, m[2])
	})
}

// A changedDefinition is a list of edits to the Gadget CRD, read from one block of lines. title is
// the first line of the block.
type changedDefinition struct {
	title string
	edits []edit
}

// readEdits reads a file with one block of lines per variant of the Gadget CRD. Each line is an
// edit. If named is true, the first line of a block is only its title. Otherwise, it is also the
// first edit.
func readEdits(t *testing.T, name string, named bool) (all []changedDefinition) {
	t.Helper()
	for line := range strings.Lines(string(client.ReadFile(t, "testdata/definitions/"+name))) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		text, more := strings.CutPrefix(line, "\t")
		if !more {
			all = append(all, changedDefinition{title: line})
		}
		if !more && named {
			continue
		}
		path, value, _ := strings.Cut(text, " ")
		last := &all[len(all)-1]
		last.edits = append(last.edits, edit{path, repeated(value)})
	}
	return all
}

// TestRefusals compares the validation errors of new CRDs with the reference implementation's.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	for _, c := range readEdits(t, "edits.txt", false) {
		o := edited(t, c.edits)
		d := publicDefinition(t, o)
		store(d)
		answer, err := s.Do(s.Ctx, "POST", path+"?dryRun=All", client.JSON, []byte(o.json()))
		if err != nil {
			t.Fatal(err)
		}
		expectCauses(t, c.title, answer, func() field.ErrorList { return validation.ValidateCustomResourceDefinition(s.Ctx, d) })
	}
}

// TestRefusedUpdates compares the validation errors of CRD updates with the reference
// implementation's.
func TestRefusedUpdates(t *testing.T) {
	t.Parallel()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	s.Send(201, "POST", path, client.JSON, edited(t, nil).json())
	at := path + "/gadgets.example.com"
	var before definitionObject
	client.Eventually(t, func() error {
		answer := s.Send(200, "GET", at, "", "")
		before = definitionObject(answer.Object())
		if !strings.Contains(answer.String(), `"type":"Established"`) {
			return &answer
		}
		return nil
	})
	old := publicDefinition(t, before)
	for _, c := range readEdits(t, "edits.txt", false) {
		o := edited(t, c.edits)
		if o.text("metadata", "name") != "gadgets.example.com" {
			continue
		}
		metadata := before["metadata"].(map[string]any)
		for name, v := range metadata {
			if given := o["metadata"].(map[string]any); given[name] == nil {
				given[name] = v
			}
		}
		d := publicDefinition(t, o)
		d.Status = *old.Status.DeepCopy()
		store(d)
		answer, err := s.Do(s.Ctx, "PUT", at+"?dryRun=All", client.JSON, []byte(o.json()))
		if err != nil {
			t.Fatal(err)
		}
		expectCauses(t, c.title, answer, func() field.ErrorList { return validation.ValidateCustomResourceDefinitionUpdate(s.Ctx, d, old) })
	}
}
