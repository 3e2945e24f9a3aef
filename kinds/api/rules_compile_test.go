package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// TestRulesCompile checks that the rules of every message compile. The server compiles them on
// first use and panics if that fails.
func TestRulesCompile(t *testing.T) {
	done, lists := map[*schema.Message]bool{}, 0
	var run func(m *schema.Message)
	run = func(m *schema.Message) {
		if m == nil || done[m] {
			return
		}
		done[m] = true
		c := m.Checks()
		for _, check := range []schema.Check{c.Validate, c.Update, c.Write, c.Status, c.Warnings} {
			if check != nil {
				lists++
				check.(interface{ Compile() }).Compile()
			}
		}
		for _, f := range m.Fields {
			run(f.Message)
		}
	}
	for _, k := range NewCatalog(t, meta.Platform).Kinds() {
		run(k.Message())
	}
	if lists < 100 {
		t.Errorf("only %d lists of rules", lists)
	}
}
