package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// fromMemory returns the number of repeated applies that the server answers from memory. With etcd,
// it answers none, because other servers may also write.
func fromMemory() int {
	if client.OnEtcd() {
		return 0
	}
	return 1
}

func (s applySession) applyDigests() (n int) {
	s.T.Helper()
	const name = "\ntroupe_repeated_applies_total "
	_, rest, ok := strings.Cut(string(s.Send(200, "GET", "/metrics", "", "").Body), name)
	if _, err := fmt.Sscan(rest, &n); !ok || err != nil {
		s.T.Fatalf("no metric of echoes: %v", err)
	}
	return n
}

// TestApplyDigests checks that only an exact repeat of a no-op apply is answered from memory.
func TestApplyDigests(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path, config := configMaps+"/a", configMap("a", `"x":"1"`)
	live := s.apply(201, "one", path, config)
	again := func(want int) {
		t.Helper()
		before := s.applyDigests()
		if now := s.apply(200, "one", path, config); now.String() != live.String() {
			t.Errorf("%v\nhas become\n%v", live, now)
		}
		if now := s.applyDigests(); now != before+want {
			t.Errorf("%d applies were answered from memory, want %d", now-before, want)
		}
	}
	again(0) // the previous apply changed the object
	again(fromMemory())

	for name, test := range map[string]struct {
		code                  int
		manager, path, config string
		says                  string
	}{
		"another value":       {409, "two", path, configMap("a", `"x":"2"`), "conflict"},
		"another object":      {201, "one", configMaps + "/b", configMap("b", `"x":"1"`), ""},
		"another name inside": {400, "one", configMaps + "/c", config, "does not match"},
		"another kind":        {400, "one", "/api/v1/namespaces/default/secrets/a", config, ""},
		"another form":        {200, "one", path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}", ""},
		"twice in it":         {200, "one", path, configMap("a", `"x":"1","x":"1"`), ""},
		"the same, strictly":  {400, "one&fieldValidation=Strict", path, configMap("a", `"x":"1","x":"1"`), "duplicate field"},
		"a dry run":           {200, "one&dryRun=All", path, config, ""},
	} {
		before := s.applyDigests()
		for range 3 {
			answer, err := s.Do(s.Ctx, "PATCH", test.path+"?fieldManager="+test.manager, applyTypeApply, []byte(test.config))
			if err != nil || answer.Code != test.code && answer.Code != 200 || answer.Code > 201 && !strings.Contains(string(answer.Body), test.says) {
				t.Errorf("%s: %v %v, want %d %s", name, answer, err, test.code, test.says)
			}
		}
		if test.code > 201 || strings.HasPrefix(name, "twice") || strings.HasPrefix(name, "a dry") {
			if now := s.applyDigests(); now != before {
				t.Errorf("%s was answered from memory", name)
			}
		}
	}
	again(fromMemory())
	before := s.applyDigests()
	s.apply(200, "one&force=true", path, config)
	if now := s.applyDigests(); now != before {
		t.Error("another option was answered from memory")
	}
	s.owned(s.apply(200, "two", path, config), `one Apply {"f:data":{"f:x":{}}}`, `two Apply {"f:data":{"f:x":{}}}`)
	live = s.get(path)
	again(0) // the state has changed
	again(fromMemory())

	answer := s.Send(200, "PATCH", path+"?fieldManager=one", applyTypeApply, configMap("a", `"x":"1","x":"1"`))
	if answer.Header.Get("Warning") == "" {
		t.Error("the warning of a repeated apply is lost")
	}
	s.Send(200, "DELETE", path, "", "")
	if created := s.apply(201, "one", path, config); created.Metadata()["uid"] == live.Metadata()["uid"] {
		t.Error("what was deleted is answered from memory")
	}
}

// TestApplyDigestsOfSubresources checks that applying the same configuration to another subresource
// is not a repeated apply.
func TestApplyDigestsOfSubresources(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := applyDeployment + "/a"
	config := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},` +
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"replicas":1}}`
	s.apply(201, "one", path, config)
	for range 2 {
		s.apply(200, "one", path, config)
	}
	s.has(s.apply(200, "one", path+"/status", config), map[string]string{"status.replicas": "1"})
	for range 2 {
		s.has(s.apply(200, "one", path+"/status", config), map[string]string{"status.replicas": "1"})
		s.has(s.apply(200, "one", path, config), map[string]string{"status.replicas": "1"})
	}
	scale := `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"},"spec":{"replicas":2}}`
	before := s.applyDigests()
	for range 3 {
		s.has(s.apply(200, "two", path+"/scale", scale), map[string]string{"kind": `"Scale"`, "spec.replicas": "2"})
	}
	if now := s.applyDigests(); now != before+fromMemory() {
		t.Errorf("%d scales were answered from memory, want %d", now-before, fromMemory())
	}
}
