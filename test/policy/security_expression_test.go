package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// customDefinition returns a CRD whose spec has the given schema, as JSON.
func customDefinition(schema string) string {
	return `{"apiVersion":"apiextensions.platform.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"costs.example.com"},"spec":{"group":"example.com","scope":"Cluster",
		"names":{"plural":"costs","kind":"Cost"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":` + schema + `}}}}]}}`
}

// TestCostlyExpressions checks rules that could take minutes or gigabytes for one object. Each must
// be rejected for its estimated cost, or stopped at the cost limit.
func TestCostlyExpressions(t *testing.T) {
	s := client.Open(t, nil)
	for name, rule := range map[string]string{
		"a text of terabytes":          `self.a.replace('', self.a).size() > 0`,
		"a text of gigabytes":          `self.l.join(self.a).size() > 0`,
		"a format of digits":           `'%.2000000000f'.format([1.0]).size() > 0`,
		"a format of large texts":      `'` + strings.Repeat("%s", 2000) + `'.format([` + strings.Repeat("self.a,", 1999) + `self.a]).size() > 0`,
		"a format of hexadecimals":     `self.l.all(x, '%x%x%x%x'.format([self.a, self.a, self.a, self.a]).size() > 0)`,
		"a large expression":           `!self.a.matches(self.a)`,
		"a constant expression":        `!self.a.matches('` + strings.Repeat("(x?y?)*", 2000) + `z')`,
		"a search":                     `self.a.find(self.a) == ''`,
		"all that is found":            `self.a.findAll('` + strings.Repeat("x?", 5000) + `').size() == 0`,
		"pieces of one byte":           `self.l.all(x, self.a.split('').size() > 0)`,
		"sets":                         `!sets.intersects(self.l, self.m) && !sets.contains(self.m, self.l)`,
		"loops in loops":               `self.l.all(x, self.l.all(y, self.m.all(z, x != z)))`,
		"sums of texts":                `self.l.map(x, self.a + self.a + self.a).size() > 0`,
		"deep comparisons":             `self.l.all(x, [self.a, x] == [self.a, x])`,
		"what is wrong does not count": `self.a.replace('', self.a) == 'x' || true`,
	} {
		schema := fmt.Sprintf(`{"type":"object","properties":{"a":{"type":"string"},"l":{"type":"array","items":{"type":"string"}},"m":{"type":"array","items":{"type":"string"}}},"x-platform-validations":[{"rule":%q}]}`, rule)
		defined, err := s.Do(s.Ctx, "POST", definitionPath, client.JSON, []byte(customDefinition(schema)))
		if err != nil {
			t.Fatal(err)
		}
		if defined.Code == 422 && strings.Contains(defined.String(), "estimated rule cost") {
			continue
		}
		var l, m []string
		for i := range 3000 {
			l, m = append(l, fmt.Sprintf(`"l%d"`, i)), append(m, fmt.Sprintf(`"m%d"`, i))
		}
		object := `{"apiVersion":"example.com/v1","kind":"Cost","metadata":{"name":"a"},"spec":{"a":"` + strings.Repeat("x", 700_000) + `","l":[` + strings.Join(l, ",") + `],"m":[` + strings.Join(m, ",") + `]}}`
		answer := s.Send(422, "POST", "/apis/example.com/v1/costs", client.JSON, object)
		if text := answer.String(); !strings.Contains(text, "cost exceeds limit") && !strings.Contains(text, "cost budget") {
			t.Errorf("%s: %.300s", name, text)
		}
		s.Send(200, "DELETE", definitionPath+"/costs.example.com", "", "")
	}
}

// TestCostlyDefinitions checks that CRDs that are too expensive to validate are rejected.
func TestCostlyDefinitions(t *testing.T) {
	s := client.Open(t, nil)
	deep := `{"type":"string"}`
	for range 101 {
		deep = `{"type":"object","properties":{"a":` + deep + `}}`
	}
	rule := func(text string) string { return fmt.Sprintf(`{"rule":%q}`, text) }
	ruled := func(rules ...string) string {
		return `{"type":"object","x-platform-validations":[` + strings.Join(rules, ",") + `]}`
	}
	many := make([]string, 1001)
	for i := range many {
		many[i] = rule(fmt.Sprint("true || ", i, " == 1"))
	}
	properties := make([]string, 3000)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"p%d":{"type":"string"}`, i)
	}
	growing := rule(`'x'` + strings.Repeat(`.replace('x','xx')`, 2000) + ` == ''`)
	for name, test := range map[string]struct{ schema, want string }{
		"deep":      {deep, "must not have more than 100 levels"},
		"many":      {ruled(many...), "must not have more than 1000 rules"},
		"long":      {ruled(rule("true" + strings.Repeat(" || true", 40_000))), "must not have more than 262144 bytes of expressions"},
		"brace":     {ruled(rule(strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + ".size() == 0")), "compilation failed"},
		"growing":   {ruled(growing), "compilation failed"},
		"names":     {`{"type":"object","properties":{"` + strings.Repeat("n", 100_000) + `":{"type":"object","properties":{` + strings.Join(properties, ",") + `}}}}`, "must not have so many properties below long names"},
		"pattern":   {`{"type":"array","items":{"type":"string","pattern":"(x?y?x?y?x?y?){1000}z"}}`, "properties[spec].items: Forbidden: estimated cost of validation is"},
		"unions":    {`{"type":"array","items":{"type":"object","anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"required":["a"]},`, 1000), ",") + `]}}`, "properties[spec]: Forbidden: estimated cost of validation is"},
		"constants": {ruled(rule(`'x'` + strings.Repeat(`.replace('x','xx')`, 40) + ` != ''`)), "estimated rule cost exceeds budget"},
	} {
		answer := s.Send(422, "POST", definitionPath, client.JSON, customDefinition(test.schema))
		if text := answer.String(); !strings.Contains(text, test.want) {
			t.Errorf("%s: %.400s, want %s", name, text, test.want)
		}
	}
}

// TestCostlyObjects checks that the cost limit stops the validation of an object that would take
// minutes. The cost includes short patterns that match slowly.
func TestCostlyObjects(t *testing.T) {
	s := client.Open(t, nil)
	s.Send(201, "POST", definitionPath, client.JSON, customDefinition(`{"type":"object","properties":{"a":{"type":"string","pattern":"^(x|y{900})*$"}}}`))
	object := func(size int) string {
		return `{"apiVersion":"example.com/v1","kind":"Cost","metadata":{"generateName":"a"},"spec":{"a":"` + strings.Repeat("x", size) + `"}}`
	}
	s.Send(201, "POST", "/apis/example.com/v1/costs", client.JSON, object(100_000))
	answer := s.Send(422, "POST", "/apis/example.com/v1/costs", client.JSON, object(700_000))
	if text := answer.String(); !strings.Contains(text, "spec.a: Invalid value: the cost of validation exceeds 100000000 for the whole object") {
		t.Errorf("%.300s", text)
	}
}
