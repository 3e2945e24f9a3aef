package policy_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func TestABAC(t *testing.T) {
	file, err := os.Open("testdata/authz/abac.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mode, err := authz.ParseABAC(file, must.Get(catalog.New(meta.Platform))(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range readCases[[]attributesCase](t, "authz/abac") {
		if got, _ := mode.Authorize(c.Attributes); got != decisions[c.Want] {
			t.Errorf("%+v: got %d", c, got)
		}
	}
	got, want := mode.RulesFor(&authn.User{Name: "kubelet", Groups: []string{"system:authenticated"}}, "dev"), readCases[authz.RuleSet](t, "authz/abac-rules")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestABACErrors(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	parseABAC := func(text string) error {
		_, err := authz.ParseABAC(strings.NewReader(text), kinds)
		return err
	}
	checkFaults(t, "authz/abac-faults", parseABAC)
	if err := parseABAC("#\n" + strings.Repeat("x", 2<<20)); err == nil || !strings.Contains(err.Error(), "line 2: bufio.Scanner: token too long") {
		t.Error(err)
	}
	const other = `{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"a"}}`
	if _, err := authz.ParseABAC(strings.NewReader(other), must.Get(catalog.New(meta.Kubernetes))(t)); err != nil {
		t.Error(err)
	}
}
