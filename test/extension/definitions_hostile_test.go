package extension

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// nestedDefinitions is a schema of so many lists, one in the other, around another schema.
func nestedDefinitions(levels int, inner string) string {
	return strings.Repeat(`{"type":"array","items":`, levels) + inner + strings.Repeat(`}`, levels)
}

// versions are more versions of gadgets than are of use to anybody.
func versions(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"name":"v%d","served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`, i+1, i == 0)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// TestHostile sends definitions that are made to take long, or to break what reads them. Each has a clear answer, and what is
// accepted can be used and goes again.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	rule := func(text string) string { return fmt.Sprintf(`[{"rule":%q}]`, text) }
	for name, test := range map[string]struct {
		code  int
		edits []edit
	}{
		"many versions":          {201, []edit{{"spec.versions", versions(3_000)}}},
		"deep lists":             {400, []edit{{definitionSpec + ".properties.deep", nestedDefinitions(1000, `{"type":"string"}`)}}},
		"rule below deep lists":  {201, []edit{{definitionSpec + ".properties.deep", nestedDefinitions(90, `{"type":"string","x-kubernetes-validations":[{"rule":"self.size() > 0"}]}`)}}},
		"rules over deep lists":  {422, []edit{{definitionSpec + ".properties.deep", nestedDefinitions(8, `{"type":"string"}`)}, {definitionSpec + ".x-kubernetes-validations", rule(strings.Repeat("self.deep.all(a, ", 8) + "true" + strings.Repeat(")", 8))}}},
		"deep alternatives":      {400, []edit{{definitionSpec + ".anyOf", strings.Repeat(`[{"not":{"anyOf":`, 200) + `[{"required":["a"]}]` + strings.Repeat(`}}]`, 200)}}},
		"many properties":        {201, []edit{{definitionSpec + ".properties", "{" + repeat(5_000, `"p#":{"type":"string"}`) + "}"}, {definitionVersion + "selectableFields", ""}}},
		"many defaults":          {201, []edit{{definitionSpec + ".properties", "{" + repeat(1_000, `"p#":{"type":"object","default":{"a":"x"},"properties":{"a":{"type":"string","pattern":"^(a|x)*$"}}}`) + "}"}, {definitionVersion + "selectableFields", ""}}},
		"a large default":        {201, []edit{{definitionSpec + ".properties.big", `{"type":"array","items":{"type":"integer"},"default":[` + repeat(100_000, "#") + `]}`}}},
		"a default of its own":   {422, []edit{{list + ".default", `["a","b","c","d","e"]`}}},
		"a large set":            {422, []edit{{definitionSpec + ".properties.set", `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"},"maxItems":3,"default":[` + repeat(20_000, `"a#"`) + `]}`}}},
		"a large enumeration":    {201, []edit{{color + ".enum", `[` + repeat(50_000, `"a#"`) + `]`}}},
		"a pattern of patterns":  {422, []edit{{color + ".pattern", `"((((a{30}){30}){30}){30}){30}"`}}},
		"a rule of patterns":     {422, []edit{{definitionSpec + ".x-kubernetes-validations", rule(`self.color.matches('((((a{30}){30}){30}){30}){30}')`)}}},
		"an endless rule":        {422, []edit{{definitionSpec + ".x-kubernetes-validations", rule(strings.Repeat("(", 5000) + "true" + strings.Repeat(")", 5000))}}},
		"a rule of many terms":   {422, []edit{{definitionSpec + ".x-kubernetes-validations", rule("true" + strings.Repeat(" && self.size > 1", 20_000))}}},
		"a rule of strings":      {201, []edit{{definitionSpec + ".x-kubernetes-validations", rule("'" + strings.Repeat("a", 1000) + "'.replace('a', '" + strings.Repeat("b", 1000) + "').replace('b', self.color).size() > 0")}}},
		"many rules":             {422, []edit{{definitionSpec + ".x-kubernetes-validations", `[` + repeat(5_000, `{"rule":"self.size > #"}`) + `]`}}},
		"a message without end":  {422, []edit{{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","messageExpression":"` + strings.Repeat("'a'+", 5_000) + `'a'"}]`}}},
		"a path to itself":       {422, []edit{{definitionVersion + "subresources.scale", `{"specReplicasPath":".spec` + strings.Repeat(".spec", 10_000) + `","statusReplicasPath":"."}`}}},
		"many columns":           {201, []edit{{definitionVersion + "additionalPrinterColumns", `[` + repeat(5_000, `{"name":"c#","type":"string","jsonPath":".spec.list[?(@ == 'a')]"}`) + `]`}}},
		"a bad column":           {201, []edit{{definitionVersion + "additionalPrinterColumns", `[{"name":"a","type":"date","jsonPath":".spec..list[?(@.x[?(@.y"}]`}}},
		"names of other objects": {201, []edit{{definitionSpec + ".properties.__proto__", `{"type":"object","properties":{"constructor":{"type":"string"},"":{"type":"string"},"a.b/c~d":{"type":"integer"}}}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			o := edited(t, test.edits)
			answer, err := s.Do(s.Ctx, "POST", path, client.JSON, []byte(o.json()))
			if err != nil {
				t.Fatal(err)
			}
			if answer.Code != test.code {
				t.Errorf("%.400s, want %d", answer.String(), test.code)
			}
			if answer.Code != 201 {
				return
			}
			objects := "/apis/example.com/v1/namespaces/default/gadgets"
			s.Send(201, "POST", objects, client.JSON, `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"color":"a1"}}`)
			s.GetAs(s.Ctx, objects, "application/json;as=Table;g=meta.k8s.io;v=v1")
			s.Send(200, "GET", "/openapi/v3/apis/example.com/v1", "", "")
			s.Send(200, "GET", "/apis/example.com/v1", "", "")
			s.Send(200, "DELETE", path+"/gadgets.example.com", "", "")
			client.Eventually(t, func() error {
				if answer, err := s.Do(s.Ctx, "GET", objects, "", nil); err != nil || answer.Code != 404 {
					return fmt.Errorf("%d, %v", answer.Code, err)
				}
				return nil
			})
		})
	}
}
