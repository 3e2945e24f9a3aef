package policy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A reviewer is an image policy webhook that records its reviews.
type reviewer struct {
	mu    sync.Mutex
	asked []map[string]any // specs of the reviews
}

// ServeHTTP responds according to the image names in the review.
func (r *reviewer) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(q.Body).Decode(&review); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	spec := review["spec"]
	r.mu.Lock()
	r.asked = append(r.asked, spec.(map[string]any))
	r.mu.Unlock()
	text, _ := json.Marshal(spec)
	switch all := string(text); {
	case strings.Contains(all, "broken"):
		w.WriteHeader(http.StatusTeapot)
	case strings.Contains(all, "lying"):
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Pod","status":{"allowed":true}}`)
	case strings.Contains(all, "silent"):
		fmt.Fprintf(w, `{"apiVersion":%q,"kind":"ImageReview"}`, review["apiVersion"])
	default:
		status := map[string]any{"allowed": !strings.Contains(all, "bad"), "reason": "it is bad", "auditAnnotations": map[string]string{"seen": "yes"}}
		if strings.Contains(all, "unexplained") {
			status = map[string]any{"allowed": false}
		}
		review["status"] = status
		_ = json.NewEncoder(w).Encode(review)
	}
}

func (r *reviewer) questions() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, _ := json.Marshal(r.asked)
	r.asked = nil
	return string(text)
}

// TestImagePolicyWebhook checks that a webhook admits or rejects the images of Pods, and that its
// decisions are cached. If it fails, defaultAllow decides.
func TestImagePolicyWebhook(t *testing.T) {
	t.Parallel()
	for profile, defaultAllow := range map[string]bool{"platform": false, "kubernetes": true} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			domain := map[string]string{"platform": "platform.io", "kubernetes": "k8s.io"}[profile]
			backend := &reviewer{}
			h := httptest.NewServer(backend)
			t.Cleanup(h.Close)
			dir := t.TempDir()
			kubeconfig, file := filepath.Join(dir, "backend.yaml"), filepath.Join(dir, "admission.yaml")
			for path, text := range map[string]string{
				kubeconfig: `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: b, user: u}}], clusters: [{name: b, cluster: {server: "` + h.URL + `"}}], users: [{name: u, user: {}}]}`,
				file:       fmt.Sprintf(`{imagePolicy: {kubeConfigFile: %q, retryBackoff: -1, defaultAllow: %t}}`, kubeconfig, defaultAllow),
			} {
				client.WriteFile(t, path, text)
			}
			c := serveUsers(t, func(c *daemon.Config, _ string) {
				c.Naming = profile
				c.Admission.Enable, c.Admission.ConfigFile = []string{"ImagePolicyWebhook"}, file
			})
			pod := func(name, image string) string {
				return fmt.Sprintf(`{"metadata":{"name":%q,"annotations":{"x.image-policy.%s/ticket":"1","other":"2"}},"spec":{"containers":[{"name":"c","image":%q}],"initContainers":[{"name":"i","image":"init"}]}}`,
					name, domain, image)
			}
			c.expect("root", "POST", pods, pod("a", "good"), 201)
			want := strings.ReplaceAll(`[{"annotations":{"x.image-policy.DOMAIN/ticket":"1"},"containers":[{"image":"good"},{"image":"init"}],"namespace":"default"}]`,
				"DOMAIN", domain)
			if got := backend.questions(); got != want {
				t.Errorf("asked %s, want %s", got, want)
			}
			c.expect("root", "POST", pods, pod("b", "good"), 201)
			c.expect("root", "POST", pods, pod("c", "bad"), 403, `pods \"c\" is forbidden: image policy webhook backend denied one or more images: it is bad`)
			c.expect("root", "POST", pods, pod("c", "bad"), 403)
			if got := backend.questions(); strings.Count(got, `"namespace"`) != 1 {
				t.Errorf("known answers were asked for: %s", got)
			}
			c.expect("root", "POST", pods, pod("c", "unexplained"), 403, "one or more images rejected by webhook backend")
			c.expect("root", "POST", pods, pod("c", "silent"), 403, "one or more images rejected by webhook backend")
			failed := map[bool]int{true: 201, false: 403}[defaultAllow]
			c.expect("root", "POST", pods, pod("d", "broken"), failed)
			c.expect("root", "POST", pods, pod("e", "lying"), failed)
			c.expect("root", "PATCH", pods+"/a", fmt.Sprintf(`{"metadata":{"annotations":{"x.image-policy.%s/ticket":"bad"}}}`, domain), 403)
			c.expect("root", "PATCH", pods+"/a", `{"metadata":{"labels":{"x":"y"}}}`, 200)
			backend.questions()
			c.expect("root", "PATCH", pods+"/a/ephemeralcontainers", `{"spec":{"ephemeralContainers":[{"name":"e","image":"bad"}]}}`, 403)
			if got := backend.questions(); !strings.Contains(got, `"containers":[{"image":"bad"}]`) {
				t.Errorf("asked %s of an ephemeral container", got)
			}
		})
	}
}
