package extension

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestUnknownBelowUnions checks that unknown schema fields below items and additionalProperties are
// dropped with a warning, even in strict requests. Real CRDs contain such fields, which
// kube-apiserver's strict decoder does not detect. Unknown fields elsewhere are rejected.
func TestUnknownBelowUnions(t *testing.T) {
	t.Parallel()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	tolerated := edited(t, []edit{
		{"$list.items", `{"type":"string","anyOf":[{"minLength":1,"optional":true}]}`},
		{"$spec.properties.map", `{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string","extra":1}}}}`},
	})
	refused := edited(t, []edit{{"$list", `{"type":"array","extra":1,"items":{"type":"string","optional":true}}`}})
	const at = path + "/gadgets.example.com"
	for _, c := range []struct{ method, path, mediaType string }{
		{"POST", path + "?fieldValidation=Strict", client.JSON},
		{"PUT", at + "?fieldValidation=Strict", client.JSON},
		{"PATCH", at + "?fieldValidation=Strict", client.MergePatch},
		{"PATCH", at + "?fieldValidation=Strict&fieldManager=one&force=true", definitionTypeApply},
	} {
		name := c.method + " " + c.mediaType
		for _, o := range []definitionObject{refused, tolerated} {
			if c.method == "PUT" {
				o["metadata"].(map[string]any)["resourceVersion"] = s.Send(200, "GET", at, "", "").Object().Metadata()["resourceVersion"]
			} else {
				delete(o["metadata"].(map[string]any), "resourceVersion")
			}
		}
		answer, err := s.Do(s.Ctx, c.method, c.path, c.mediaType, []byte(refused.json()))
		if err != nil {
			t.Fatal(err)
		}
		if text := answer.String(); answer.Code < 400 || answer.Code >= 500 || !strings.Contains(text, "list.extra") || strings.Contains(text, "items.optional") {
			t.Errorf("%s: an unknown field: %.600s", name, text)
		}
		if answer, err = s.Do(s.Ctx, c.method, c.path, c.mediaType, []byte(tolerated.json())); err != nil {
			t.Fatal(err)
		}
		warnings := strings.Join(answer.Header.Values("Warning"), "\n")
		if answer.Code >= 300 || !strings.Contains(warnings, "list.items.anyOf[0].optional") || !strings.Contains(warnings, "additionalProperties.properties.a.extra") {
			t.Errorf("%s: unknown fields below items: %.600s, warnings %s", name, answer.String(), warnings)
		}
		if strings.Contains(answer.String(), `"extra"`) {
			t.Errorf("%s: it is kept: %s", name, answer.String())
		}
	}
}
