package extension

import (
	"net/url"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// twoVersions are v1, which is stored, and v2, which requires a field that v1 does not know.
const twoVersions = `{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"spec":{"type":"object","properties":{"size":{"type":"integer","maximum":5}}},
		"status":{"type":"object","properties":{"ready":{"type":"boolean"}}}}}}},
	{"name":"v2","served":true,"storage":false,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{
		"spec":{"type":"object","required":["width"],"x-platform-validations":[{"rule":"self.width <= self.size"}],"properties":{"size":{"type":"integer","maximum":9},"width":{"type":"integer","minimum":1}}},
		"status":{"type":"object","required":["width"],"properties":{"ready":{"type":"boolean"},"width":{"type":"integer"}}}}}}}`

// TestValidationInTheVersionOfTheRequest writes through a version that is not the stored one: what only that version knows is
// defaulted, validated and owned, and then dropped. The schema of the stored version refuses nothing.
func TestValidationInTheVersionOfTheRequest(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{versions: twoVersions})
	objects := strings.Replace(widgets, "/v1/", "/v2/", 1)
	body := func(name, spec string) string { return strings.Replace(widget(name, `,"spec":`+spec), "/v1", "/v2", 1) }

	for spec, cause := range map[string]string{
		`{"size":7}`:           "spec.width: Required value",
		`{"size":7,"width":0}`: "spec.width in body should be greater than or equal to 1",
		`{"size":7,"width":8}`: "failed rule: self.width",
	} {
		for _, try := range [][3]string{
			{"POST", objects, client.JSON}, {"PATCH", objects + "/a?fieldManager=m", customTypeApply},
		} {
			if answer := s.Send(422, try[0], try[1], try[2], body("a", spec)).String(); !strings.Contains(answer, cause) {
				t.Errorf("%s of %s: %s, want %q", try[0], spec, answer, cause)
			}
		}
	}
	s.check("created", part(s.Send(201, "POST", objects, client.JSON, body("a", `{"size":7,"width":1}`)).Object(), "spec"), `{"spec":{"size":7}}`)
	s.check("stored", part(s.read("a"), "spec"), `{"spec":{"size":7}}`)

	put := func(code int, size, width string) client.Answer {
		text := strings.Replace(body("a", `{"size":`+size+width+`}`), `"name"`, `"resourceVersion":"`+s.read("a").Metadata()["resourceVersion"].(string)+`","name"`, 1)
		return s.Send(code, "PUT", objects+"/a", client.JSON, text)
	}
	put(422, "8", ``)
	put(200, "8", `,"width":2`)
	before := s.read("a")
	put(200, "8", `,"width":3`)
	if after := s.read("a"); after.Metadata()["generation"] != before.Metadata()["generation"] {
		t.Errorf("generation of %v, was %v: what is stored is the same", after, before)
	}
	s.Send(422, "PATCH", objects+"/a", client.MergePatch, `{"spec":{"size":6}}`)
	s.Send(422, "PATCH", objects+"/a", client.MergePatch, `{"spec":{"width":9}}`)
	s.Send(200, "PATCH", objects+"/a", client.MergePatch, `{"spec":{"size":6,"width":1}}`)
	s.Send(200, "PATCH", objects+"/a?fieldManager=m&force=true", customTypeApply, body("a", `{"size":9,"width":1}`))
	s.check("patched", part(s.read("a"), "spec"), `{"spec":{"size":9}}`)
	s.Send(201, "PATCH", objects+"/b?fieldManager=m", customTypeApply, body("b", `{"size":9,"width":1}`))
	s.check("applied", part(s.read("b"), "spec"), `{"spec":{"size":9}}`)

	s.Send(422, "PATCH", objects+"/a/status", client.MergePatch, `{"status":{"ready":true}}`)
	s.Send(200, "PATCH", objects+"/a/status", client.MergePatch, `{"status":{"ready":true,"width":1}}`)
	s.check("status", part(s.read("a"), "status"), `{"status":{"ready":true}}`)

	s.Send(422, "PATCH", widgets+"/a", client.MergePatch, `{"spec":{"size":8}}`) // v1 holds it against its own schema
	s.Send(200, "PATCH", widgets+"/a", client.MergePatch, `{"spec":{"size":5}}`)
}

// TestSelectedEntries selects objects by an entry of a map.
func TestSelectedEntries(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{
		schema: `{"type":"object","properties":{"spec":{"type":"object","properties":{"map":{"type":"object","additionalProperties":{"type":"string"}}}}}}`,
		more:   `,"selectableFields":[{"jsonPath":".spec.map.a"}]`,
	})
	s.create("one", `,"spec":{"map":{"a":"x"}}`)
	s.create("two", `,"spec":{"map":{"a":"y","b":"x"}}`)
	s.create("none", ``)
	for selector, want := range map[string]int{"spec.map.a=x": 1, "spec.map.a=y": 1, "spec.map.a=z": 0, "spec.map.a!=x": 2} {
		if list, err := s.List(s.Ctx, widgets, url.Values{"fieldSelector": {selector}}); err != nil || len(list.Items) != want {
			t.Errorf("%s: %d, want %d, %v", selector, len(list.Items), want, err)
		}
	}
}

// TestApplyThroughVersions: an apply through any version takes a list that is owned as a whole from others if it says
// something else than what is there with its defaults; and it may name fields of objects of which the schema says nothing,
// which are dropped. Another manager's apply of the same is a conflict then.
func TestApplyThroughVersions(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	const schema = `{"type":"object","properties":{"spec":{"type":"object","properties":{"bare":{"type":"object"},"items":{"type":"array","items":{"type":"object"}},
		"refs":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"group":{"type":"string","default":"g"}}}}}}}}`
	var versions []string
	for _, v := range []string{`"v1","storage":true`, `"v2","storage":false`} {
		versions = append(versions, `{"name":`+v+`,"served":true,"schema":{"openAPIV3Schema":`+schema+`}}`)
	}
	s.define(customDefinition{versions: strings.Join(versions, ",")})
	for _, version := range []string{"v1", "v2"} {
		at := strings.Replace(widgets, "/v1/", "/"+version+"/", 1)
		text := func(name, spec string) string {
			return strings.Replace(widget(name, `,"spec":`+spec), "/v1", "/"+version, 1)
		}
		s.Send(201, "POST", at+"?fieldManager=creator", client.JSON, text("a"+version, `{"refs":[{"name":"n"}]}`))
		s.Send(200, "PATCH", at+"/a"+version+"?fieldManager=one&force=true", "application/apply-patch+yaml", text("a"+version, `{"refs":[{"name":"n"}]}`))
		taken := s.Send(200, "GET", at+"/a"+version, "", "")
		if got := strings.Count(taken.String(), `"f:refs":{}`); got != 1 || !strings.Contains(taken.String(), `"refs":[{"group":"g","name":"n"}]`) {
			t.Errorf("%s: %d owners of refs in %s", version, got, taken)
		}
		s.Send(409, "PATCH", at+"/a"+version+"?fieldManager=two", "application/apply-patch+yaml", text("a"+version, `{"refs":[{"name":"n"}]}`))
		bare := s.Send(201, "PATCH", at+"/b"+version+"?fieldManager=one", "application/apply-patch+yaml", text("b"+version, `{"bare":{"x":{"y":1}},"items":[{"z":1}]}`))
		if !strings.Contains(bare.String(), `"spec":{"bare":{},"items":[{}]}`) || !strings.Contains(bare.String(), `"f:bare":{"f:x":{".":{},"f:y":{}}}`) {
			t.Errorf("%s: %s", version, bare)
		}
	}
}
