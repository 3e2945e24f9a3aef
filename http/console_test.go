package http_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http/internal/console"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestBuiltFromTheseSources(t *testing.T) {
	names := []string{"build.mjs", "package-lock.json", "package.json", "tsconfig.json"}
	sources := must.Get(os.ReadDir("internal/console/web/src"))(t)
	for _, s := range sources {
		names = append(names, "src/"+s.Name())
	}
	all := sha256.New()
	for _, name := range names {
		text := must.Get(os.ReadFile("internal/console/web/" + name))(t)
		fmt.Fprintf(all, "%x  %s\n", sha256.Sum256(text), name)
	}
	built := must.Get(os.ReadFile("internal/console/dist/sources.sha256"))(t)
	if got := hex.EncodeToString(all.Sum(nil)); got != strings.TrimSpace(string(built)) {
		t.Errorf("dist/ was made from other sources than those of web/: make generate makes it anew")
	}
}

func TestFiles(t *testing.T) {
	c := console.New(console.Options{Naming: meta.Platform})
	entries := must.Get(os.ReadDir("internal/console/dist"))(t)
	for _, e := range entries {
		if f := c.File(e.Name()); (f == nil) != (e.Name() == "sources.sha256") {
			t.Errorf("%s: served: %v", e.Name(), f != nil)
		}
	}
	if c.File("") != c.File("index.html") || c.File("nothing") != nil || c.File("../console.go") != nil {
		t.Error("the path leads to the page, or to what is no file of the application")
	}
}

// TestSecurityPolicy tests that the Content-Security-Policy prevents leaks: it allows only the
// console's own scripts, and connections to this server and the token endpoint.
func TestSecurityPolicy(t *testing.T) {
	provider := &console.SignIn{ClientID: "us", AuthorizationEndpoint: "https://login.example/a", TokenEndpoint: "https://token.example:8443/t?x=y"}
	for name, c := range map[string]struct {
		provider *console.SignIn
		connect  string
	}{
		"without a provider": {nil, "connect-src 'self';"},
		"with one":           {provider, "connect-src 'self' https://token.example:8443;"},
	} {
		served := console.New(console.Options{Naming: meta.Kubernetes, SignIn: func() *console.SignIn { return c.provider }})
		policy := served.SecurityPolicy()
		for _, part := range []string{"default-src 'none';", "script-src 'self';", "frame-ancestors 'none'", c.connect} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: %q lacks %q", name, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %q", name, policy)
		}
		text := must.Get(served.Config())(t)
		var config struct {
			Naming string
			Groups map[string]string
			SignIn *console.SignIn
		}
		if err := json.Unmarshal(text, &config); err != nil || config.Naming != "kubernetes" || config.Groups["meta"] != "meta.k8s.io" {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		if (config.SignIn == nil) != (c.provider == nil) || c.provider != nil && *config.SignIn != *c.provider {
			t.Errorf("%s: the application gets %+v", name, config.SignIn)
		}
	}
}
