package extension

import (
	"strings"
	"testing"
)

const sized = `{"type":"object","properties":{
	"spec":{"type":"object","required":["size"],"properties":{
		"size":{"type":"integer","minimum":1,"maximum":10},
		"color":{"type":"string","enum":["red","blue"],"default":"red"},
		"note":{"type":"string","maxLength":5,"nullable":true},
		"list":{"type":"array","maxItems":2,"items":{"type":"string"},"x-platform-list-type":"set"},
		"parts":{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer","default":1}}}},
		"port":{"x-platform-int-or-string":true},
		"labels":{"type":"object","additionalProperties":{"type":"string"}},
		"free":{"type":"object","x-platform-preserve-unknown-fields":true}}},
	"status":{"type":"object","properties":{"ready":{"type":"boolean"},"replicas":{"type":"integer"}}}}}`

// TestCustomMetrics checks that each metric has one series per kind, even after its CRD is
// recreated. The series must be removed with the CRD.
func TestCustomMetrics(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	for range 2 {
		s.define(customDefinition{schema: sized})
		s.create("a", `,"spec":{"size":1}`)
		s.updateDefinition(customDefinition{})
		s.read("a")
		s.Send(200, "DELETE", customDefinitions+"/widgets.example.com", "", "")
	}
	if text := s.Send(200, "GET", "/metrics", "", "").String(); strings.Contains(text, "widgets") {
		t.Error("series of widgets that are not defined any more")
	}
	s.define(customDefinition{schema: sized})
	s.create("a", `,"spec":{"size":1}`)
	seen := map[string]bool{}
	for line := range strings.Lines(s.Send(200, "GET", "/metrics", "", "").String()) {
		series, _, _ := strings.Cut(line, "} ")
		if strings.Contains(series, "widgets") && !strings.HasPrefix(line, "#") {
			if seen[series] {
				t.Errorf("twice: %s", line)
			}
			seen[series] = true
		}
	}
	if len(seen) == 0 {
		t.Error("no series of widgets")
	}
}
