package extension

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const (
	definitionDefinitions2 = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	aggregated             = "application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList"
)

// definitionDefinitions returns the Widget CRD in a group. Each of its two versions has a CEL rule.
func definitionDefinitions(group string) string {
	const schema = `{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","x-platform-validations":[{"rule":"self.size <= 10"}],
		"properties":{"size":{"type":"integer","description":"How large it is."},"color":{"type":"string","default":"red"}}}}}}`
	return `{"apiVersion":"apiextensions.platform.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.` + group + `"},
		"spec":{"group":"` + group + `","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":` + schema + `},{"name":"v1beta1","served":true,"storage":false,"schema":` + schema + `}]}}`
}

func document(ctx context.Context, s client.Session, path, accept string) (text, etag string, err error) {
	answer, err := s.GetAs(ctx, path, accept)
	if err == nil && answer.Code != 200 {
		err = &answer
	}
	return string(answer.Body), answer.Header.Get("ETag"), err
}

// TestDocuments creates, changes and deletes CRDs in many groups concurrently. Once a write is
// acknowledged, every discovery and OpenAPI document must contain the change. Documents of other
// groups must not change.
func TestDocuments(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	_, others, err := document(s.Ctx, s, "/openapi/v3/apis/apps/v1", "application/json")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 3 {
				if err := comeAndGo(s.Ctx, s, fmt.Sprintf("g%d-%d.example.com", i, n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if _, etag, err := document(s.Ctx, s, "/openapi/v3/apis/apps/v1", "application/json"); etag != others || err != nil {
		t.Errorf("the document of a built-in group is another one now: %s, %s, %v", others, etag, err)
	}
}

// comeAndGo creates, changes and deletes the Widget CRD in a group, and checks the documents after
// each step.
func comeAndGo(ctx context.Context, s client.Session, group string) error {
	at := definitionDefinitions2 + "/widgets." + group
	if answer, err := s.Do(ctx, "POST", definitionDefinitions2, client.JSON, []byte(definitionDefinitions(group))); err != nil || answer.Code != 201 {
		return fmt.Errorf("create: %v, %v", answer, err)
	}
	first, err := expect(ctx, s, group, true, "How large it is.")
	if err != nil {
		return err
	}
	changed := strings.ReplaceAll(definitionDefinitions(group), "How large it is.", "Its size.")
	answer, err := s.Do(ctx, "PATCH", at, client.MergePatch, []byte(changed))
	if err != nil || answer.Code != 200 {
		return fmt.Errorf("patch: %v, %v", answer, err)
	}
	second, err := expect(ctx, s, group, true, "Its size.")
	if err != nil || second == first {
		return fmt.Errorf("after the change: hash %s, was %s, %v", second, first, err)
	}
	if answer, err := s.Delete(ctx, at, nil); err != nil || answer.Code != 200 {
		return fmt.Errorf("delete: %v, %v", answer, err)
	}
	_, err = expect(ctx, s, group, false, "Its size.")
	return err
}

// expect checks that all documents contain a group, or none does if served is false. It returns the
// hash of the group's own OpenAPI document.
func expect(ctx context.Context, s client.Session, group string, served bool, description string) (hash string, err error) {
	for _, d := range []struct{ path, accept string }{
		{"/apis", "application/json"}, {"/apis", aggregated}, {"/openapi/v3", "application/json"}, {"/openapi/v2", "application/json"}, {"/", "application/json"},
	} {
		text, etag, err := document(ctx, s, d.path, d.accept)
		if err != nil || strings.Contains(text, group) != served {
			return "", fmt.Errorf("%s as %s: %s is there: %t, %v", d.path, d.accept, group, !served, err)
		}
		if d.accept == aggregated && etag == "" {
			return "", fmt.Errorf("%s as %s has no ETag", d.path, d.accept)
		}
	}
	text, hash, err := document(ctx, s, "/openapi/v3/apis/"+group+"/v1beta1", "application/json")
	if there := err == nil && strings.Contains(text, description); there != served {
		return "", fmt.Errorf("the document of %s is there: %t, %v", group, there, err)
	}
	return hash, nil
}
