//go:build chromium

package clients

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
)

const (
	adminToken  = "token-of-an-administrator"
	readerToken = "token-of-a-reader"
)

// A consoleSite is a server with some objects, and its console in a browser.
type consoleSite struct {
	*browser
	client.Session
	naming *meta.Naming
}

func openSite(t *testing.T, naming *meta.Naming) *consoleSite {
	t.Helper()
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	lines := adminToken + ",alice,1,system:masters\n" + readerToken + ",bob,2\n"
	client.WriteFile(t, tokens, lines)
	s := client.Open(t, func(c *daemon.Config) {
		c.Naming, c.Serving.Console, c.Authentication.TokenAuthFile = naming.Profile, true, tokens
	})
	a := &consoleSite{Session: s, naming: naming, browser: openBrowser(t, strings.TrimPrefix(s.URL, "https://"))}
	a.makeObjects()
	return a
}

func (s *consoleSite) apply(manager, path, object string) {
	s.Session.T.Helper()
	for _, code := range []int{201, 200} { // 201 for a new object
		answer, err := s.Do(s.Ctx, "PATCH", path+"?force=true&fieldManager="+manager, "application/apply-patch+yaml", []byte(object))
		if err == nil && answer.Code == code || err == nil && answer.Code == 200 {
			return
		}
		if err != nil || answer.Code != code {
			s.Session.T.Fatalf("apply %s: %v %v", path, answer, err)
		}
	}
}

func (s *consoleSite) makeObjects() {
	const deployments = "/apis/apps/v1/namespaces/default/deployments/web"
	s.apply("team", deployments, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"app":"web"}},
	  "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"nginx:1","ports":[{"containerPort":80}]}]}}}}`)
	s.apply("scaler", deployments, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":3}}`)
	answer, err := s.Get(s.Ctx, deployments)
	if err != nil {
		s.Session.T.Fatal(err)
	}
	owner := fmt.Sprintf(`"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":%q,"controller":true}]`, answer.Object().UID())
	s.Send(201, "POST", "/apis/apps/v1/namespaces/default/replicasets", client.JSON, `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-1",`+owner+`},
	  "spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"nginx:1"}]}}}}`)
	s.Send(201, "POST", "/api/v1/namespaces/default/events", client.JSON, fmt.Sprintf(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"web.1"},"reason":"ScalingReplicaSet",
	  "message":"Scaled up to 3","type":"Normal","involvedObject":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":"web","uid":%q}}`, answer.Object().UID()))
	s.Send(201, "POST", "/apis/"+s.naming.Group("apiextensions")+"/v1/customresourcedefinitions", client.JSON, `{"apiVersion":"`+s.naming.Group("apiextensions")+`/v1","kind":"CustomResourceDefinition",
	  "metadata":{"name":"backups.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"backups","kind":"Backup"},
	  "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["keep"],
	  "properties":{"keep":{"type":"integer","default":7,"description":"How many are kept."}}}}}}}]}}`)
}

func (s *consoleSite) page(path string) string { return s.URL + "/console/" + path }

func (s *consoleSite) signIn(token string) {
	s.browser.t.Helper()
	s.excuse("selfsubjectreviews") // the console's request for the user of a client certificate fails before the sign-in
	s.open(s.page(""))
	s.see("Sign in to Troupe")
	s.fill("Token", token)
	s.click("Sign in")
}

func eachProfile(t *testing.T, test func(t *testing.T, s *consoleSite)) {
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		t.Run(naming.Profile, func(t *testing.T) { test(t, openSite(t, naming)) })
	}
}

// TestSignIn checks that the console shows objects only after a sign-in, and reports an invalid
// token.
func TestSignIn(t *testing.T) {
	s := openSite(t, meta.Platform)
	s.excuse("401")
	s.signIn("nonsense")
	s.see("The server rejected this token.")
	s.fill("Token", adminToken)
	s.click("Sign in")
	s.see("Requests by verb")
	s.see("alice")
	s.open(s.page("#/objects/-/configmaps"))
	s.run("reload", chromedp.Reload())
	s.see("Label selector") // still signed in
	s.click("Sign out")
	s.see("Sign in to Troupe")
}

// TestOverview checks that the metrics in the overview are updated.
func TestOverview(t *testing.T) {
	eachProfile(t, func(t *testing.T, s *consoleSite) {
		s.signIn(adminToken)
		s.see("Requests by verb")
		s.see("Active owners")
		s.see("Busiest collections")
		s.wait("a value", `[...document.querySelectorAll('ul[aria-label="Requests by verb"] .number')].some(e => /\d\/s/.test(e.textContent))`)
		s.screenshot("overview-" + s.naming.Profile)
	})
}

// TestOwnershipInThreeClicks checks that users can reach an object's field managers in three
// clicks.
func TestOwnershipInThreeClicks(t *testing.T) {
	eachProfile(t, func(t *testing.T, s *consoleSite) {
		s.signIn(adminToken)
		s.see("Requests by verb")
		s.click("Objects")
		s.click("Deployment")
		s.click("web")
		s.see("replicas: 3")
		for line, managers := range map[string]string{
			"replicas: 3":        "scaler",
			"image: nginx:1":     "team",
			"containerPort: 80":  "team",
			"kind: Deployment":   "",
			"progressDeadlineSe": "",
		} {
			got := s.text(`[...document.querySelectorAll(".fields tbody tr")].filter(r => r.querySelector("code").textContent.includes(` + quote(line) + `)).map(r => r.querySelector(".owners").innerText.trim()).join("|")`)
			if got != managers {
				t.Errorf("%s: managers %q, want %q", line, got, managers)
			}
		}
		s.screenshot("fields-" + s.naming.Profile)
	})
}

// TestTablesAreLive checks that tables show changes immediately and can be filtered.
func TestTablesAreLive(t *testing.T) {
	eachProfile(t, func(t *testing.T, s *consoleSite) {
		s.signIn(adminToken)
		s.see("Requests by verb")
		s.open(s.page("#/objects/-/configmaps/default"))
		s.see("live")
		for _, name := range []string{"a", "b"} {
			s.Send(201, "POST", "/api/v1/namespaces/default/configmaps", client.JSON, `{"metadata":{"name":"new-`+name+`"},"data":{"x":"y"}}`)
		}
		s.see("new-a")
		s.see("new-b")
		s.Send(200, "DELETE", "/api/v1/namespaces/default/configmaps/new-a", client.JSON, `{}`)
		s.wait("new-a goes", `!document.body.innerText.includes("new-a") && document.body.innerText.includes("new-b")`)
		s.fill("Filter", "nothing like it")
		s.see("No objects match the filter.")
	})
}

// TestQuickTable checks that the console polls a long table while its objects change too often for
// a watch, and watches them again once the changes stop.
func TestQuickTable(t *testing.T) {
	s := openSite(t, meta.Kubernetes)
	watches := map[network.RequestID]bool{}
	var mu sync.Mutex
	chromedp.ListenTarget(s.browser.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if strings.Contains(e.Request.URL, "/configmaps?watch=true") {
				watches[e.RequestID] = true
			}
		case *network.EventLoadingFailed:
			delete(watches, e.RequestID)
		case *network.EventLoadingFinished:
			delete(watches, e.RequestID)
		}
	})
	open := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(watches)
	}
	s.signIn(adminToken)
	s.see("Requests by verb")
	s.open(s.page("#/objects/-/configmaps/default"))
	const is = `document.querySelector("[role=status]").textContent === `
	s.wait("it is watched", is+`"live"`)

	ctx, calm := context.WithCancel(s.Ctx)
	var writers sync.WaitGroup
	defer writers.Wait()
	defer calm()
	var made atomic.Int64
	for w := range 8 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("quick-%d-%06d", w, i)
				if answer, err := s.Do(s.Ctx, "POST", "/api/v1/namespaces/default/configmaps", client.JSON, []byte(`{"metadata":{"name":"`+name+`"}}`)); err != nil || answer.Code != 201 {
					t.Error(answer, err)
					return
				}
				made.Add(1)
			}
		})
	}
	s.wait("it is listed", is+`"live, every 2 s"`)
	client.Eventually(t, func() error {
		if n := open(); n > 0 || made.Load() < 600 {
			return fmt.Errorf("%d watches are open, and there are %d objects", n, made.Load())
		}
		return nil
	})
	s.Send(201, "POST", "/api/v1/namespaces/default/configmaps", client.JSON, `{"metadata":{"name":"a-first"}}`)
	s.see("a-first")
	s.see("more are not shown")
	s.wait("what is new is marked", `document.querySelectorAll("tr.changed").length > 0`)
	calm()
	writers.Wait()

	s.wait("it is watched again", is+`"live"`)
	client.Eventually(t, func() error {
		if n := open(); n != 1 {
			return fmt.Errorf("%d watches are open", n)
		}
		return nil
	})
	s.Send(200, "PATCH", "/api/v1/namespaces/default/configmaps/a-first", client.MergePatch, `{"data":{"a":"1","b":"2","c":"3"}}`)
	s.wait("a change is seen", `[...document.querySelectorAll("tbody tr")].some(r => r.cells[0].textContent === "a-first" && r.cells[1].textContent === "3")`)
	if rows := s.text(`String(document.querySelectorAll("tbody tr").length)`); rows != "500" {
		t.Errorf("%s rows", rows)
	}
}

// TestDryRun checks that a dry run shows the diff and changes nothing.
func TestDryRun(t *testing.T) {
	eachProfile(t, func(t *testing.T, s *consoleSite) {
		s.excuse("422")
		s.signIn(adminToken)
		s.see("Requests by verb")
		s.open(s.page("#/objects/apps/deployments/default/web"))
		s.see("replicas: 3")
		s.click("Try a change")
		edited := s.text(`document.getElementById("edited").value`)
		s.fill("Object as YAML", strings.Replace(edited, "replicas: 3", "replicas: 5", 1))
		s.click("Try it (dry run)")
		s.see("Accepted by the dry run")
		if got := s.text(`[...document.querySelectorAll(".difference .added")].map(e => e.textContent.trim()).join("|")`); !strings.Contains(got, "replicas: 5") {
			t.Errorf("the difference adds %q", got)
		}
		s.screenshot("trial-" + s.naming.Profile)
		s.fill("Object as YAML", strings.Replace(edited, "replicas: 3", "replicas: -1", 1))
		s.click("Try it (dry run)")
		s.see("spec.replicas")
		s.see("must be greater than or equal to 0")
		answer, err := s.Get(s.Ctx, "/apis/apps/v1/namespaces/default/deployments/web")
		if err != nil || !strings.Contains(string(answer.Body), `"replicas":3`) {
			t.Errorf("the dry run left %v, %v", answer, err)
		}
	})
}

// TestObjectHistory checks an object's revisions, the page of one revision, and the restoration of
// a deleted object, which requires a dry run first.
func TestObjectHistory(t *testing.T) {
	eachProfile(t, func(t *testing.T, s *consoleSite) {
		const web, webPage = "/apis/apps/v1/namespaces/default/deployments/web", "#/objects/apps/deployments/default/web"
		const rows = `[...document.querySelectorAll(".history tbody tr")].map(r => r.cells[2].textContent + " " + r.cells[3].textContent).join("|")`
		s.excuse("404")
		s.signIn(adminToken)
		s.see("Requests by verb")
		s.open(s.page(webPage))
		s.click("History")
		s.wait("its revisions", rows+` === "MODIFIED scaler|ADDED team"`)
		s.click("Show")
		s.see("Hide")
		if got := s.text(`[...document.querySelectorAll(".difference span")].map(e => e.className + e.textContent.trim()).filter(t => t.includes("replicas")).join("|")`); got != "removed-   replicas: 1|added+   replicas: 3" {
			t.Errorf("the difference is %q", got)
		}
		s.screenshot("history-" + s.naming.Profile)
		s.run("open the first", chromedp.Click(".history tbody tr:last-child a", chromedp.ByQuery))
		s.see("This is revision")
		s.see("replicas: 1")
		s.click("Current state")
		s.see("replicas: 3")
		s.click("History")
		s.see("ADDED")
		s.apply("scaler", web, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":4}}`)
		s.click("Reload the history")
		s.wait("the new revision", rows+` === "MODIFIED scaler|MODIFIED scaler|ADDED team"`)

		answer, err := s.Get(s.Ctx, web)
		must.Succeed(t, err)
		old := answer.Object().UID()
		s.Send(200, "DELETE", web, client.JSON, `{"propagationPolicy":"Orphan"}`)
		s.see("The object does not exist.")
		s.wait("the deletion", rows+`.startsWith("DELETED -|MODIFIED ")`)
		s.click("Restore (dry run)")
		s.see("Accepted by the dry run")
		s.screenshot("restore-" + s.naming.Profile)
		if answer, err = s.Get(s.Ctx, web); err != nil || answer.Code != 404 {
			t.Errorf("the dry run left %v, %v", answer, err)
		}
		s.click("Restore web")
		s.see("Try a change")
		s.click("Fields")
		s.see("replicas: 4")
		if answer, err = s.Get(s.Ctx, web); err != nil || answer.Code != 200 || answer.Object().UID() == old {
			t.Errorf("restored: %v, %v", answer, err)
		}

		owned := "/apis/apps/v1/namespaces/default/replicasets/owned"
		s.Send(201, "POST", "/apis/apps/v1/namespaces/default/replicasets", client.JSON, fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"owned",
		  "ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":%q}]},"spec":{"selector":{"matchLabels":{"app":"web"}},
		  "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"nginx:1"}]}}}}`, old))
		s.Do(s.Ctx, "DELETE", owned, client.JSON, []byte("{}")) // unless it was collected as garbage
		s.open(s.page("#/objects/apps/replicasets/default/owned"))
		s.click("Restore (dry run)")
		s.see("Deployment web, which no longer exists")
	})
}

func TestEventsAndRelations(t *testing.T) {
	s := openSite(t, meta.Kubernetes)
	s.signIn(adminToken)
	s.see("Requests by verb")
	s.open(s.page("#/objects/apps/deployments/default/web"))
	s.click("Events")
	s.see("Scaled up to 3")
	s.click("Relations")
	s.run("what it owns", chromedp.WaitVisible(`.relations a[href$="/replicasets/default/web-1"]`, chromedp.ByQuery))
	s.screenshot("relations")
	s.run("go there", chromedp.Click(`.relations a[href$="/replicasets/default/web-1"]`, chromedp.ByQuery))
	s.see("name: web-1")
	s.click("Relations")
	s.run("its owner", chromedp.WaitVisible(`.relations a[href$="/deployments/default/web"]`, chromedp.ByQuery))
}

func TestDefinitions(t *testing.T) {
	eachProfile(t, func(t *testing.T, s *consoleSite) {
		s.signIn(adminToken)
		s.see("Requests by verb")
		s.click("Definitions")
		s.see("backups.example.com")
		s.see("Established True")
		s.run("open it", chromedp.Click(".definition summary", chromedp.ByQuery))
		s.run("open spec", chromedp.Click(".schema summary", chromedp.ByQuery))
		s.see("How many are kept.")
		s.screenshot("definitions-" + s.naming.Profile)
		s.click("Its objects")
		s.see("No objects.")
	})
}

// TestAccess checks that the access matrix shows the authorization decisions for any user.
func TestAccess(t *testing.T) {
	eachProfile(t, func(t *testing.T, s *consoleSite) {
		s.signIn(adminToken)
		s.see("Requests by verb")
		s.click("Access")
		row := func(resource string) string {
			return `[...document.querySelectorAll(".matrix tbody tr")].filter(r => r.querySelector("th").textContent === ` + quote(resource) + `).map(r => [...r.querySelectorAll("td")].map(d => d.textContent).join(" ")).join("|")`
		}
		s.wait("all of mine", row("secrets")+` === "yes yes yes yes yes yes yes yes"`)
		s.fill("User", "system:serviceaccount:default:default")
		s.click("Show")
		s.wait("none of an account's", row("secrets")+` === "no no no no no no no no"`)
		s.screenshot("access-" + s.naming.Profile)
	})
}

// TestFewRights checks that a user with few permissions sees the server's error messages and the
// access matrix.
func TestFewRights(t *testing.T) {
	s := openSite(t, meta.Kubernetes)
	s.excuse("403")
	s.signIn(readerToken)
	s.see("cannot get path")
	s.open(s.page("#/objects/-/secrets"))
	s.see("cannot list resource")
	s.click("Access")
	s.wait("no", `document.querySelectorAll(".matrix td.no").length > 100`)
}

// TestAccessible checks all pages with axe for WCAG 2.1 AA, in light and dark color schemes.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("../../http/internal/console/web/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: npm ci in http/internal/console/web brings it", err)
	}
	s := openSite(t, meta.Kubernetes)
	s.excuse("selfsubjectreviews")
	check := func(page string) {
		t.Helper()
		for _, dark := range []bool{false, true} {
			s.dark(dark)
			var found []string
			// The Content-Security-Policy does not apply to scripts sent over the DevTools
			// protocol.
			s.run("axe", chromedp.Evaluate(string(axe), nil), chromedp.Evaluate(
				`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(" ")))`,
				&found, awaitPromise))
			for _, f := range found {
				t.Errorf("%s, dark %v: %s", page, dark, f)
			}
		}
	}
	s.open(s.page(""))
	s.see("Sign in to Troupe")
	check("sign in")
	s.signIn(adminToken)
	s.see("Busiest collections")
	check("overview")
	for _, page := range []struct{ path, text string }{
		{"#/objects", "Choose a kind"}, {"#/objects/apps/deployments", "live"}, {"#/objects/apps/deployments/default/web", "replicas: 3"},
		{"#/definitions", "backups.example.com"}, {"#/access", "secrets"},
	} {
		s.open(s.page(page.path))
		s.see(page.text)
		check(page.path)
	}
	s.open(s.page("#/objects/apps/deployments/default/web"))
	for tab, text := range map[string]string{"Events": "Scaled up", "Relations": "ReplicaSet", "History": "ADDED", "Try a change": "Object as YAML"} {
		s.click(tab)
		s.see(text)
		check(tab)
	}
}

// TestWidths checks that pages, links and buttons fit in narrow and wide windows.
func TestWidths(t *testing.T) {
	s := openSite(t, meta.Kubernetes)
	s.excuse("selfsubjectreviews")
	const outside = `(() => {
		const width = document.documentElement.clientWidth;
		const scrolled = (e) => e && (getComputedStyle(e).overflowX === "auto" || scrolled(e.parentElement));
		const wide = [...document.querySelectorAll("a, button, input, select, h1, h2, p, figure")].filter((e) => e.getBoundingClientRect().right > width + 1 && !scrolled(e) && !e.closest(".skip"));
		if (document.documentElement.scrollWidth > width) wide.push(document.documentElement);
		return wide.map((e) => e.outerHTML.slice(0, 120));
	})()`
	check := func(page string) {
		t.Helper()
		for _, width := range []int64{400, 1200} {
			var found []string
			s.run("resize", emulation.SetDeviceMetricsOverride(width, 800, 1, false), chromedp.Evaluate(outside, &found))
			for _, f := range found {
				t.Errorf("%s is wider than %d pixels: %s", page, width, f)
			}
			s.screenshot(fmt.Sprintf("%s-%d", strings.NewReplacer("#/", "", "/", "-").Replace(page), width))
		}
	}
	s.open(s.page(""))
	s.see("kubectl create token console")
	check("sign-in")
	s.signIn(adminToken)
	s.see("Slowest mutations")
	check("overview")
	var colored bool
	s.run("look for the first point of a chart", chromedp.Evaluate(`(() => {
		const c = document.querySelector("canvas");
		const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		for (let i = 0; i < d.length; i += 4) if (d[i + 2] - d[i] > 80 && d[i + 3] > 200) return true;
		return false;
	})()`, &colored))
	if !colored {
		t.Error("a chart does not show its only value")
	}
	for path, text := range map[string]string{
		"#/objects": "Choose a kind", "#/objects/apps/deployments": "live", "#/objects/apps/deployments/default/web": "replicas: 3",
		"#/definitions": "backups.example.com", "#/access": "secrets",
	} {
		s.open(s.page(path))
		s.see(text)
		check(path)
	}
}

// TestSwitch checks that the console is disabled by default. If enabled, it serves only its own
// files and forbids framing.
func TestSwitch(t *testing.T) {
	off := client.Open(t, nil)
	off.Send(404, "GET", "/console/", "", "")
	on := client.Open(t, func(c *daemon.Config) { c.Serving.Console = true })
	on.Send(301, "GET", "/console", "", "")
	answer := on.Send(200, "GET", "/console/", "", "")
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("policy %q", policy)
	}
	for _, path := range []string{"/console/x", "/console/app.js/", "/console/..%2fhealthz", "/console/" + url.PathEscape("app.js/../app.js")} {
		answer, err := on.Get(on.Ctx, path)
		if err != nil || answer.Code == 200 {
			t.Errorf("%s: %v %v", path, answer, err)
		}
	}
}
