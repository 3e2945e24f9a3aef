package selector

import (
	"reflect"
	"testing"
)

func TestRequirements(t *testing.T) {
	labels, err := ParseLabels("a,!b,c=d,e!=f,g in (h,i),j notin (k),l>01,m<2")
	if err != nil {
		t.Fatal(err)
	}
	want := []Requirement{
		{"a", "Exists", nil}, {"b", "DoesNotExist", nil}, {"c", "In", []string{"d"}}, {"e", "NotIn", []string{"f"}},
		{"g", "In", []string{"h", "i"}}, {"j", "NotIn", []string{"k"}}, {"l", "Gt", []string{"01"}}, {"m", "Lt", []string{"2"}},
	}
	if got := labels.Requirements(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got, want := labels.String(), "a,!b,c in (d),e notin (f),g in (h,i),j notin (k),l>01,m<2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFieldRequirements(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Requirement
		bad  bool
	}{
		{"", nil, false},
		{"spec.nodeName=a,metadata.name!=b", []Requirement{{"spec.nodeName", "In", []string{"a"}}, {"metadata.name", "NotIn", []string{"b"}}}, false},
		{`x==a\,b`, []Requirement{{"x", "In", []string{"a,b"}}}, false},
		{"=,!=,==", nil, false},
		{`\=,a\!=b`, []Requirement{{`\`, "In", []string{""}}, {`a\`, "NotIn", []string{"b"}}}, false},
		{"x", nil, true},
		{`x=a\b`, nil, true},
		{`x\=a=b`, nil, true},
	} {
		got, err := FieldRequirements(c.text)
		if !reflect.DeepEqual(got, c.want) || (err != nil) != c.bad {
			t.Errorf("%q: got %v, %v", c.text, got, err)
		}
	}
}
