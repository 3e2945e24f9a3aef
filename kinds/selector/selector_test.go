package selector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

func TestLabels(t *testing.T) {
	labels := meta.NewLabels(map[string]string{"g": "a", "n": "5", "e.com/k": ""})
	for s, want := range map[string]bool{
		"": true, "g": true, "!g": false, "! h": true, "g=a": true, "g == a": true, "g!=a": false, "h!=a": true,
		"g in (a,b)": true, "g notin (a , c)": false, "h notin (a)": true, "h in (a)": false, "n>4": true, "n<5": false,
		"g>1": false, "e.com/k=": true, "e.com/k in ()x": false, "e.com/k in ()": true, "e.com/k in (x,)": true, "g in ()": false, "g=a,n=5": true, "g=a,n=6": false, "in in (in)": false,
	} {
		l, err := ParseLabels(s)
		if s == "e.com/k in ()x" {
			if err == nil {
				t.Errorf("%s: no error", s)
			}
			continue
		}
		if err != nil || l.Matches(labels) != want {
			t.Errorf("%q: %v %v, want %v", s, l.Matches(labels), err, want)
		}
	}
	for s, want := range map[string]string{"g=a": "a", "n=1,g in (b)": "b", "g in (a,b)": "", "g!=a": "", "n=a": "", "g": ""} {
		l, _ := ParseLabels(s)
		if got, ok := l.Value("g"); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %t", s, got, ok)
		}
	}
	l, _ := ParseLabels("g in (a,b),n>4,!z")
	if n := testing.AllocsPerRun(100, func() { l.Matches(labels) }); n != 0 {
		t.Errorf("matching allocates %v times", n)
	}
}

func TestLabelFaults(t *testing.T) {
	label, domain := strings.Repeat("a", 63), strings.Repeat("a.", 126)+"a"
	for _, s := range []string{domain + "/" + label + "=" + label, "a in (" + label + ")"} {
		if _, err := ParseLabels(s); err != nil {
			t.Error(err)
		}
	}
	for s, want := range map[string]string{
		domain + "a/a":     fmt.Sprintf("unable to parse requirement: key: Invalid value: %q: prefix part must be no more than 253 bytes", domain+"a/a"),
		label + "a":        fmt.Sprintf("unable to parse requirement: key: Invalid value: %q: name part must be no more than 63 bytes", label+"a"),
		"a=" + label + "a": fmt.Sprintf("unable to parse requirement: values[0][a]: Invalid value: %q: must be no more than 63 bytes", label+"a"),
		"a b":              "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
		",a":               "found ',', expected: !, identifier, or 'end of string'",
		"a,":               "found '', expected: identifier after ','",
		"a in b":           "unable to parse requirement: found 'b' expected: '('",
		"a in (b":          "unable to parse requirement: found '', expected: ',' or ')'",
		"a=b c":            "found 'c', expected: ',' or 'end of string'",
		"a>x":              `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
		"!":                "unable to parse requirement: found '', expected: identifier",
		"a=-":              `unable to parse requirement: values[0][a]: Invalid value: "-": ` + valued,
		"a/b/c=-":          `unable to parse requirement: key: Invalid value: "a/b/c": ` + nameForm,
		"-a":               `unable to parse requirement: key: Invalid value: "-a": ` + namePart,
		"A.com/k=":         `unable to parse requirement: key: Invalid value: "A.com/k": ` + prefixed,
	} {
		if _, err := ParseLabels(s); err == nil || err.Error() != want || meta.AsStatus(err).Code != 400 {
			t.Errorf("%q: %v, want %s", s, err, want)
		}
	}
}

func TestFields(t *testing.T) {
	k := &schema.Kind{Namespaced: true, SelectFields: []schema.SelectField{{Name: "status.phase", Path: "status.phase"}, {Name: "spec.nodeName", Path: "spec.nodeName"}}}
	k.Stored = k
	other := &schema.Kind{Stored: k, SelectFields: []schema.SelectField{{Name: "node", Path: "spec.nodeName"}}}
	o := &meta.Object{Key: meta.Key{Namespace: "ns", Name: "a"}, Meta: meta.ObjectMeta{Fields: []string{"Running", `x,=\`}}}
	for s, want := range map[string]bool{
		"": true, "metadata.name=a": true, "metadata.name==b": false, "metadata.namespace!=ns": false,
		"status.phase=Running,spec.nodeName!=n": true, `spec.nodeName=x\,\=\\`: true, "status.phase=": false,
	} {
		f, err := ParseFields(k, s)
		if err != nil || f.Matches(o) != want {
			t.Errorf("%q: %v, want %v", s, err, want)
		}
	}
	if f, err := ParseFields(other, `node=x\,\=\\`); err != nil || !f.Matches(o) {
		t.Errorf("a field of another version: %v", err)
	}
	f, _ := ParseFields(k, "metadata.name=a,metadata.namespace!=b")
	if name, ok := f.Name(); name != "a" || !ok {
		t.Error("Name is not a")
	}
	if _, ok := f.Namespace(); ok {
		t.Error("a namespace is required")
	}
	for s, want := range map[string]string{
		"abc": "invalid selector: 'abc'; can't understand 'abc'", "x=1": "field label not supported: x",
		`metadata.name=a\b`: `invalid field selector: invalid escape sequence: \b`,
		"metadata.name=a=b": "invalid field selector: unescaped character in value: =",
	} {
		if _, err := ParseFields(k, s); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", s, err, want)
		}
	}
}

// TestNamespaceField checks that metadata.namespace is rejected for cluster-scoped kinds that are
// custom or have selectable fields.
func TestNamespaceField(t *testing.T) {
	own := []schema.SelectField{{Name: "status.phase", Path: "status.phase"}}
	for _, c := range []struct {
		k    schema.Kind
		want string
	}{
		{schema.Kind{}, ""},
		{schema.Kind{Namespaced: true, SelectFields: own}, ""},
		{schema.Kind{Namespaced: true, Origin: &schema.Origin{Definition: "widgets.e.com"}}, ""},
		{schema.Kind{SelectFields: own}, "field label not supported: metadata.namespace"},
		{schema.Kind{Origin: &schema.Origin{Definition: "widgets.e.com"}}, "field label not supported: metadata.namespace"},
	} {
		c.k.Stored = &c.k
		if _, err := ParseFields(&c.k, "metadata.namespace!=x"); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %v, want %q", c.k, err, c.want)
		}
	}
}
