package api

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, want, got, hard, soft string }{
		{"equal", `{"a":[1,{"b":"c"}]}`, `{"a":[1,{"b":"c"}]}`, "", ""},
		{"value", `{"a":[1,{"b":"c"}]}`, `{"a":[1,{"b":"d"}]}`, ".a[1].b", ""},
		{"length", `{"a":[1]}`, `{"a":[1,1]}`, ".a", ""},
		{"missing", `{"a":1}`, `{}`, ".a", ""},
		{"too much", `{}`, `{"a":1}`, ".a", ""},
		{"null is not nothing", `{"a":null}`, `{}`, ".a", ""},
		{"type", `{"a":{}}`, `{"a":[]}`, ".a", ""},
		{"text for a document", `{"a":1}`, `a`, "", ""},
		{"volatile", `{"metadata":{"uid":"1"}}`, `{"metadata":{"uid":"2"}}`, "", ""},
		{"volatile but empty", `{"metadata":{"uid":"1"}}`, `{"metadata":{"uid":""}}`, ".metadata.uid", ""},
		{"volatile but missing", `{"metadata":{"uid":"1"}}`, `{"metadata":{}}`, ".metadata.uid", ""},
		{"a key of data", `{"data":{"uid":"1"}}`, `{"data":{"uid":"2"}}`, ".data.uid", ""},
		{"managed fields", `{"metadata":{"managedFields":[1]}}`, `{"metadata":{}}`, ".metadata.managedFields", ""},
		{"message", `{"kind":"Status","message":"a"}`, `{"kind":"Status","message":"b"}`, "", ".message"},
		{"no message", `{"kind":"Status","message":"a"}`, `{"kind":"Status"}`, ".message", ""},
		{"message of an object", `{"kind":"Pod","message":"a"}`, `{"kind":"Pod","message":"b"}`, ".message", ""},
		{"age", `{"columnDefinitions":[{"name":"Name"},{"name":"Age"}],"rows":[{"cells":["a","0s"]}]}`,
			`{"columnDefinitions":[{"name":"Name"},{"name":"Age"}],"rows":[{"cells":["b","1s"]}]}`, ".rows[0].cells[0]", ""},
		{"events", `{"type":"ADDED"}`, `{"type":"ADDED"} {"type":"DELETED"}`, "", ""},
	} {
		v := compareReference(referenceAnswer{Body: bodyOf([]byte(test.want))}, referenceAnswer{Body: bodyOf([]byte(test.got))})
		wantsRoot := test.name == "events" || test.name == "text for a document"
		if got := paths(v.hard); got != test.hard || wantsRoot != (len(v.hard) == 1 && got == "") {
			t.Errorf("%s: hard differences at %q, want %q", test.name, got, test.hard)
		}
		if got := paths(v.soft); got != test.soft {
			t.Errorf("%s: soft differences at %q, want %q", test.name, got, test.soft)
		}
	}
}

func TestCompareHeads(t *testing.T) {
	t.Parallel()
	same := referenceAnswer{Code: 200, ContentType: "text/plain", Warning: "a", Body: ""}
	for _, got := range []referenceAnswer{
		{Code: 201, ContentType: "text/plain", Warning: "a", Body: ""},
		{Code: 200, ContentType: "text/html", Warning: "a", Body: ""},
		{Code: 200, ContentType: "text/plain", Body: ""},
		{Code: 200, ContentType: "text/plain", Warning: "a", Allow: "GET", Body: ""},
	} {
		if v := compareReference(same, got); len(v.hard) != 1 {
			t.Errorf("%+v: %v", got, v.hard)
		}
	}
	other := same
	other.Warning = "another text"
	if v := compareReference(same, other); len(v.hard) != 0 {
		t.Error(v.hard)
	}
}

func paths(differences []string) string {
	var out []string
	for _, d := range differences {
		path, _, _ := strings.Cut(d, ":")
		out = append(out, path)
	}
	return strings.Join(out, " ")
}
