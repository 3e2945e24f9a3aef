package policy

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	suite "k8s.io/pod-security-admission/test"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestPublishedSuite runs the test suite of k8s.io/pod-security-admission, which creates Pods and
// Deployments from all fixtures in namespaces of each level and version.
func TestPublishedSuite(t *testing.T) {
	dir := t.TempDir()
	client.Serve(t, dir, func(c *daemon.Config) { c.Naming = "kubernetes" })
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "admin.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	suite.Run(t, suite.Options{ClientConfig: config})
}

// A podSecurityWrite is a request with its expected response, warnings and audit annotations.
type podSecurityWrite struct {
	method, path, body string
	code               int
	message            string   // error message
	warnings           []string // all warnings
	annotations        []string // Pod security audit annotations, as key=value without the domain
}

const (
	plainPod      = `{"metadata":{"name":"NAME"},"spec":{"containers":[{"name":"a","image":"i"}]}}`
	privilegedPod = `{"metadata":{"name":"NAME"},"spec":{"containers":[{"name":"a","image":"i","securityContext":{"privileged":true}}]}}`
	restrictedPod = `{"metadata":{"name":"NAME"},"spec":{"hostUsers":false,"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},
		"containers":[{"name":"a","image":"i","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}`
	immutablePod = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`," +
		"`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
	restrictions = `allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ` +
		`unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), ` +
		`runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), ` +
		`seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`
	noPrivilege = `privileged (container "a" must not set securityContext.privileged=true)`
	debugger    = `{"spec":{"ephemeralContainers":[{"name":"a","image":"i","securityContext":{"privileged":true}}]}}`
)

func named(pod, name string) string { return strings.ReplaceAll(pod, "NAME", name) }

func namespace(name, labels string) string {
	return `{"metadata":{"name":"` + name + `","labels":{` + labels + `}}}`
}

// writes lists the requests of TestWrites in order. DOMAIN stands for the domain of the Pod
// security labels.
var writes = []podSecurityWrite{
	// Namespace labels must be valid.
	{method: "POST", path: "/api/v1/namespaces", body: namespace("x", `"DOMAIN/enforce":"high"`), code: 422,
		message: `Namespace "x" is invalid: metadata.labels[DOMAIN/enforce]: Invalid value: "high": must be one of privileged, baseline, restricted`},
	{method: "POST", path: "/api/v1/namespaces", body: namespace("x", `"DOMAIN/warn-version":"1.2"`), code: 422,
		message: `Namespace "x" is invalid: metadata.labels[DOMAIN/warn-version]: Invalid value: "1.2": must be "latest" or "v1.x"`},
	{method: "POST", path: "/api/v1/namespaces", body: namespace("base", `"DOMAIN/enforce":"baseline","DOMAIN/audit":"restricted","DOMAIN/warn":"restricted"`), code: 201},
	{method: "POST", path: "/api/v1/namespaces", body: namespace("free", ``), code: 201},
	// Pods are checked in the modes enforce, audit and warn.
	{method: "POST", path: "/api/v1/namespaces/none/pods", body: named(plainPod, "p"), code: 404, message: `namespaces "none" not found`},
	{method: "POST", path: "/api/v1/namespaces/base/pods", body: named(privilegedPod, "p"), code: 403,
		message: `pods "p" is forbidden: violates PodSecurity "baseline:latest": ` + noPrivilege,
		annotations: []string{
			`audit-violations=would violate PodSecurity "restricted:latest": ` + noPrivilege + ", " + restrictions,
			"enforce-policy=baseline:latest",
		}},
	{method: "POST", path: "/api/v1/namespaces/base/pods", body: named(plainPod, "p"), code: 201,
		warnings:    []string{`would violate PodSecurity "restricted:latest": ` + restrictions},
		annotations: []string{`audit-violations=would violate PodSecurity "restricted:latest": ` + restrictions, "enforce-policy=baseline:latest"}},
	{method: "POST", path: "/api/v1/namespaces/free/pods", body: named(privilegedPod, "free-1"), code: 201,
		annotations: []string{"enforce-policy=privileged:latest"}},
	{method: "POST", path: "/api/v1/namespaces/free/pods", body: named(privilegedPod, "free-2"), code: 201,
		annotations: []string{"enforce-policy=privileged:latest"}},
	{method: "POST", path: "/api/v1/namespaces/free/pods", body: named(plainPod, "plain"), code: 201,
		annotations: []string{"enforce-policy=privileged:latest"}},
	// An update is checked only if it changes a checked field.
	{method: "PATCH", path: "/api/v1/namespaces/base/pods/p", body: `{"metadata":{"labels":{"a":"b"}}}`, code: 200},
	{method: "PATCH", path: "/api/v1/namespaces/base/pods/p/status", body: `{"status":{"phase":"Running"}}`, code: 200},
	{method: "PATCH", path: "/api/v1/namespaces/base/pods/p", body: `{"spec":{"containers":[{"name":"a","image":"j"}]}}`, code: 200,
		warnings:    []string{`would violate PodSecurity "restricted:latest": ` + restrictions},
		annotations: []string{`audit-violations=would violate PodSecurity "restricted:latest": ` + restrictions, "enforce-policy=baseline:latest"}},
	{method: "PATCH", path: "/api/v1/namespaces/base/pods/p/ephemeralcontainers", body: strings.Replace(debugger, `"a"`, `"b"`, 1), code: 403,
		message: `pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "b" must not set securityContext.privileged=true)`,
		annotations: []string{
			`audit-violations=would violate PodSecurity "restricted:latest": ` + `privileged (container "b" must not set securityContext.privileged=true), ` +
				strings.NewReplacer(`container "a"`, `containers "a", "b"`).Replace(restrictions),
			"enforce-policy=baseline:latest",
		}},
	// Changing false to null changes an immutable field. Setting an unset field to its default,
	// false, is a no-op, so the Pod is not checked again.
	{method: "POST", path: "/api/v1/namespaces", body: namespace("strict", `"DOMAIN/enforce":"restricted"`), code: 201},
	{method: "POST", path: "/api/v1/namespaces/strict/pods", body: named(restrictedPod, "p"), code: 201, annotations: []string{"enforce-policy=restricted:latest"}},
	{method: "PATCH", path: "/api/v1/namespaces/strict/pods/p", code: 422,
		body: `{"spec":{"containers":[{"name":"a","securityContext":{"allowPrivilegeEscalation":null}}]}}`, message: `Pod "p" is invalid: spec: Forbidden: ` + immutablePod + "\nchanged: spec.containers[0].securityContext.allowPrivilegeEscalation"},
	{method: "PATCH", path: "/api/v1/namespaces/strict/pods/p", body: `{"spec":{"hostUsers":null}}`, code: 422, message: `Pod "p" is invalid: spec: Forbidden: ` + immutablePod + "\nchanged: spec.hostUsers"},
	{method: "PATCH", path: "/api/v1/namespaces/strict/pods/p", body: `{"spec":{"hostNetwork":false,"containers":[{"name":"a","stdin":false}]}}`, code: 200},
	{method: "PATCH", path: "/api/v1/namespaces/strict/pods/p/ephemeralcontainers", code: 200, annotations: []string{"enforce-policy=restricted:latest"},
		body: `{"spec":{"ephemeralContainers":[{"name":"e","image":"i","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}`},
	{method: "PATCH", path: "/api/v1/namespaces/strict/pods/p/ephemeralcontainers", code: 422,
		body:    `{"spec":{"ephemeralContainers":[{"name":"e","securityContext":{"allowPrivilegeEscalation":null}}]}}`,
		message: "Pod \"p\" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers \"e\" may not be changed\nchanged: securityContext.allowPrivilegeEscalation"},
	// Pod templates cause only warnings and audit annotations.
	{method: "POST", path: "/apis/apps/v1/namespaces/base/deployments", code: 201,
		body: `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":` +
			strings.Replace(privilegedPod, `"name":"NAME"`, `"labels":{"a":"b"}`, 1) + `}}`,
		warnings: []string{`would violate PodSecurity "restricted:latest": ` + noPrivilege + ", " + restrictions},
		annotations: []string{
			`audit-violations=would violate PodSecurity "restricted:latest": ` + noPrivilege + ", " + restrictions,
		}},
	{method: "PATCH", path: "/apis/apps/v1/namespaces/base/deployments/d/scale", body: `{"spec":{"replicas":2}}`, code: 200},
	// Raising a namespace's level warns about existing Pods, even in a dry run.
	{method: "PATCH", path: "/api/v1/namespaces/free?dryRun=All", body: namespace("free", `"DOMAIN/enforce":"baseline"`), code: 200,
		warnings: []string{
			`existing pods in namespace "free" violate the new PodSecurity enforce level "baseline:latest"`,
			"free-1 (and 1 other pod): privileged",
		}},
	{method: "PATCH", path: "/api/v1/namespaces/free", body: namespace("free", `"DOMAIN/enforce":"restricted","DOMAIN/enforce-version":"v1.7"`), code: 200,
		warnings: []string{
			`existing pods in namespace "free" violate the new PodSecurity enforce level "restricted:v1.7"`,
			"free-1 (and 1 other pod): privileged, runAsNonRoot != true",
			"plain: runAsNonRoot != true",
		}},
	{method: "PATCH", path: "/api/v1/namespaces/free", body: namespace("free", `"DOMAIN/enforce-version":"v1"`), code: 422,
		message: `Namespace "free" is invalid: metadata.labels[DOMAIN/enforce-version]: Invalid value: "v1": must be "latest" or "v1.x"`},
	{method: "POST", path: "/api/v1/namespaces/free/pods", body: named(plainPod, "late"), code: 403,
		message:     `pods "late" is forbidden: violates PodSecurity "restricted:v1.7": runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)`,
		annotations: []string{"enforce-policy=restricted:v1.7"}},
	{method: "PATCH", path: "/api/v1/namespaces/free", body: namespace("free", `"DOMAIN/enforce":"privileged","DOMAIN/warn":"privileged"`), code: 200},
	{method: "POST", path: "/api/v1/namespaces/free/pods", body: named(privilegedPod, "late"), code: 201,
		annotations: []string{"enforce-policy=privileged:latest"}},
}

// TestWrites sends the requests in writes, in both naming profiles, and checks the responses.
func TestWrites(t *testing.T) {
	for naming, domain := range map[string]string{"platform": "pod-security.platform.io", "kubernetes": "pod-security.kubernetes.io"} {
		t.Run(naming, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "audit.log")
			s := client.Open(t, func(c *daemon.Config) { c.Naming, c.Audit.Log.Path = naming, log })
			for _, w := range writes {
				contentType := client.JSON
				if w.method == "PATCH" {
					contentType = "application/strategic-merge-patch+json"
				}
				if strings.HasSuffix(w.path, "/scale") {
					contentType = client.MergePatch
				}
				in := func(text string) string { return strings.ReplaceAll(text, "DOMAIN", domain) }
				a := s.Send(w.code, w.method, w.path, contentType, in(w.body))
				if message, _ := a.Object()["message"].(string); message != in(w.message) {
					t.Errorf("%s %s: %s\nnot %s", w.method, w.path, message, in(w.message))
				}
				if warnings := warningsOf(a); !slices.Equal(warnings, w.warnings) {
					t.Errorf("%s %s: warnings %q\nnot %q", w.method, w.path, warnings, w.warnings)
				}
				if annotations := lastAnnotations(t, log, domain); !slices.Equal(annotations, w.annotations) {
					t.Errorf("%s %s: annotations %q\nnot %q", w.method, w.path, annotations, w.annotations)
				}
			}
			metrics := s.Send(200, "GET", "/metrics", "", "")
			for _, line := range []string{
				`pod_security_evaluations_total{decision="deny",mode="enforce",policy_level="baseline",policy_version="latest",request_operation="update",resource="pod",subresource="ephemeralcontainers"} 1`,
				`pod_security_evaluations_total{decision="deny",mode="warn",policy_level="restricted",policy_version="latest",request_operation="create",resource="controller",subresource=""} 1`,
			} {
				if !strings.Contains(string(metrics.Body), line+"\n") {
					t.Errorf("no metric %s", line)
				}
			}
		})
	}
}

func warningsOf(a client.Answer) (texts []string) {
	for _, header := range a.Header.Values("Warning") {
		text := strings.TrimSuffix(strings.TrimPrefix(header, `299 - "`), `"`)
		texts = append(texts, strings.ReplaceAll(text, `\"`, `"`))
	}
	return texts
}

// lastAnnotations returns the sorted Pod security annotations of the last event in an audit log.
func lastAnnotations(t *testing.T, path, domain string) (all []string) {
	t.Helper()
	text := client.ReadFile(t, path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var event struct{ Annotations map[string]string }
	client.Decode(t, lines[len(lines)-1], &event)
	for _, key := range slices.Sorted(maps.Keys(event.Annotations)) {
		if name, ok := strings.CutPrefix(key, domain+"/"); ok {
			all = append(all, name+"="+event.Annotations[key])
		}
	}
	return all
}
