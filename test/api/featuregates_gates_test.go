package api

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	_ "k8s.io/apiextensions-apiserver/pkg/features" // declare their feature gates
	_ "k8s.io/apiserver/pkg/features"
	publicfeatures "k8s.io/apiserver/pkg/util/feature"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// open starts a server with the given feature gates and API versions, under the kubernetes naming
// profile.
func open(t *testing.T, gates string, served ...string) client.Session {
	t.Helper()
	return client.Open(t, func(c *daemon.Config) {
		c.Naming = "kubernetes"
		for _, version := range served {
			c.API.RuntimeConfig[version] = true
		}
		if err := c.API.FeatureGates.Set(gates); err != nil {
			t.Fatal(err)
		}
	})
}

var sample = regexp.MustCompile(`(?m)^kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\} ([01])$`)

// TestPublicGates checks that the server has every feature gate of the Kubernetes libraries, with
// the same stage and default.
func TestPublicGates(t *testing.T) {
	t.Parallel()
	type gate struct {
		stage string
		on    bool
	}
	known := map[string]gate{}
	for _, m := range sample.FindAllStringSubmatch(string(open(t, "").Send(200, "GET", "/metrics", "", "").Body), -1) {
		known[m[1]] = gate{m[2], m[3] == "1"}
	}
	for name, spec := range publicfeatures.DefaultFeatureGate.DeepCopy().GetAll() {
		want := gate{string(spec.PreRelease), spec.Default}
		if got, ok := known[string(name)]; !ok || got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestFeatureGateRefused checks that the server does not start if a feature gate is unknown,
// locked, or depends on a disabled gate.
func TestFeatureGateRefused(t *testing.T) {
	t.Parallel()
	for gates, want := range map[string]string{
		"Nonsense=true":                 "feature-gates: unrecognized feature gate: Nonsense",
		"CRDValidationRatcheting=false": "cannot set feature gate CRDValidationRatcheting to false, feature is locked to true",
		"DRADeviceTaints=false":         "DRADeviceTaintRules is enabled, but depends on features that are disabled: [DRADeviceTaints]",
		"RemoteRequestHeaderUID=false":  `requestheader-uid-headers: requires the "RemoteRequestHeaderUID" feature to be enabled`,
	} {
		c := daemon.Default()
		c.DataDir = t.TempDir()
		c.Authentication.RequestHeader.UIDHeaders = []string{"X-Remote-Uid"}
		if err := c.API.FeatureGates.Set(gates); err != nil {
			t.Fatal(err)
		}
		if _, err := daemon.New(c, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", gates, err)
		}
	}
}

// TestGateWarnings checks that the server warns once about a feature gate without effect, and that
// a metric shows the state of each gate.
func TestGateWarnings(t *testing.T) {
	t.Parallel()
	var log client.Log
	c := daemon.Default()
	c.DataDir, c.Serving.SecurePort = t.TempDir(), 0
	c.API.FeatureGates = daemon.Switches{"MemoryQoS": true, "APIListChunking": true, "WatchList": false}
	s := client.ServeConfig(t, c, &log)
	for gate, times := range map[string]int{"gate=MemoryQoS": 1, "gate=APIListChunking": 1, "gate=WatchList": 0} {
		if got := strings.Count(log.String(), gate); got != times {
			t.Errorf("%s is logged %d times", gate, got)
		}
	}
	metrics, err := s.Get(t.Context(), "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`{name="MemoryQoS",stage="BETA"} 1`, `{name="WatchList",stage="BETA"} 0`, `{name="CBORServingAndStorage",stage="ALPHA"} 0`} {
		if !strings.Contains(string(metrics.Body), "kubernetes_feature_enabled"+line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}

// TestListChunking checks that lists ignore the limit while APIListChunking is off.
func TestListChunking(t *testing.T) {
	t.Parallel()
	const secrets = "/api/v1/namespaces/default/secrets"
	for gates, want := range map[string]int{"": 2, "APIListChunking=false": 3} {
		s := open(t, gates)
		for _, name := range []string{"a", "b", "c"} {
			s.Send(201, "POST", secrets, "application/json", `{"metadata":{"name":"`+name+`"}}`)
		}
		list := s.Send(200, "GET", secrets+"?limit=2", "", "").Object()
		items := list["items"].([]any)
		_, more := list["metadata"].(map[string]any)["continue"]
		if len(items) != want || more != (want == 2) {
			t.Errorf("%q: %d items, %v", gates, len(items), list["metadata"])
		}
		s.Send(map[int]int{2: 400, 3: 200}[want], "GET", secrets+"?continue=none", "", "")
	}
}

// TestWatchList checks that a watch cannot request initial events while WatchList is off.
func TestWatchList(t *testing.T) {
	t.Parallel()
	const path = configMaps + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
	open(t, "").Send(200, "GET", path, "", "")
	got := open(t, "WatchList=false").Send(422, "GET", path, "", "")
	if !strings.Contains(string(got.Body), "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled") {
		t.Errorf("%s", got)
	}
}

// TestResponseCompression checks that responses are not compressed while its feature gate is off.
func TestResponseCompression(t *testing.T) {
	t.Parallel()
	for gates, want := range map[string]string{"": "gzip", "AllBeta=false": ""} {
		s := open(t, gates)
		for i := range 3 {
			s.Send(201, "POST", configMaps, "application/json", `{"metadata":{"name":"m`+strconv.Itoa(i)+`"},"data":{"x":"`+strings.Repeat("x", 100<<10)+`"}}`)
		}
		for _, path := range []string{configMaps, "/openapi/v2"} {
			answer := client.Exchange(t, client.Transport(t, s.TLS), "GET", s.URL+path, "", "Accept-Encoding: gzip")
			if got := answer.Header.Get("Content-Encoding"); got != want || answer.Code != 200 {
				t.Errorf("%q %s: %d %q", gates, path, answer.Code, got)
			}
		}
	}
}

// TestRootCAConfigMap checks that token volumes contain no CA bundle while RootCAConfigMap is off.
func TestRootCAConfigMap(t *testing.T) {
	t.Parallel()
	for gates, want := range map[string]bool{"": true, "RootCAConfigMap=false": false} {
		s := open(t, gates)
		const pod = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
		var got client.Answer
		client.Eventually(t, func() error { // a controller creates the ServiceAccount
			var err error
			if got, err = s.Do(s.Ctx, "POST", "/api/v1/namespaces/default/pods", "application/json", []byte(pod)); err == nil && got.Code != 201 {
				err = &got
			}
			return err
		})
		text := string(got.Body)
		if strings.Contains(text, "kube-root-ca.crt") != want || !strings.Contains(text, `"serviceAccountToken":{`) || !strings.Contains(text, `"downwardAPI":{`) {
			t.Errorf("%q: %s", gates, text)
		}
	}
}

// TestScaleToZero checks that HPAScaleToZero permits minReplicas 0 for an autoscaler with an
// external or object metric.
func TestScaleToZero(t *testing.T) {
	t.Parallel()
	const (
		path       = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
		autoscaler = `{"metadata":{"name":"a"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"a","apiVersion":"apps/v1"},"minReplicas":0,"maxReplicas":3`
		external   = autoscaler + `,"metrics":[{"type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"1"}}}]}}`
	)
	open(t, "HPAScaleToZero=false").Send(422, "POST", path, "application/json", external)
	s := open(t, "")
	s.Send(422, "POST", path, "application/json", autoscaler+"}}")
	if got := s.Send(201, "POST", path, "application/json", external).Object(); got["spec"].(map[string]any)["minReplicas"] != 0.0 {
		t.Errorf("%v", got)
	}
	below := s.Send(422, "POST", path, "application/json", strings.NewReplacer(`"minReplicas":0`, `"minReplicas":-1`, `"name":"a"},"spec`, `"name":"b"},"spec`).Replace(external))
	if !strings.Contains(string(below.Body), "must be greater than or equal to 0") {
		t.Errorf("%s", below)
	}
}

// TestPodTopologyLabels checks that the admission plugin is disabled while its gate is off.
func TestPodTopologyLabels(t *testing.T) {
	t.Parallel()
	for gates, want := range map[string]bool{"": true, "PodTopologyLabelsAdmission=false": false} {
		s := open(t, gates)
		s.Send(201, "POST", "/api/v1/nodes", "application/json", `{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z"}}}`)
		pod := `{"metadata":{"name":"p"},"spec":{"automountServiceAccountToken":false,"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`
		client.Eventually(t, func() error {
			got, err := s.Do(s.Ctx, "POST", "/api/v1/namespaces/default/pods?dryRun=All", "application/json", []byte(pod))
			if err == nil && got.Code != 201 {
				return &got
			}
			if has := strings.Contains(string(got.Body), `"topology.kubernetes.io/zone":"z"`); err == nil && has != want {
				t.Errorf("%q: %s", gates, got)
			}
			return err
		})
	}
}

// TestMutatingAdmissionPolicy checks that mutating policies take effect only if their gate is on.
func TestMutatingAdmissionPolicy(t *testing.T) {
	t.Parallel()
	const policies = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
	for gates, want := range map[string]bool{"": true, "MutatingAdmissionPolicy=false": false} {
		s := open(t, gates)
		s.Send(201, "POST", policies, "application/json", `{"metadata":{"name":"m"},"spec":{"reinvocationPolicy":"Never",
			"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]},
			"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data:{'by':'policy'}}"}}]}}`)
		s.Send(201, "POST", strings.TrimSuffix(policies, "ies")+"ybindings", "application/json", `{"metadata":{"name":"b"},"spec":{"policyName":"m"}}`)
		made := s.Send(201, "POST", "/api/v1/namespaces/default/configmaps", "application/json", `{"metadata":{"name":"c"}}`)
		if has := strings.Contains(string(made.Body), `"by":"policy"`); has != want {
			t.Errorf("%q: %s", gates, made)
		}
	}
}

// TestFieldsOfFeatures checks that a field behind a disabled feature gate is dropped, unless the
// stored object already contains the field.
func TestFieldsOfFeatures(t *testing.T) {
	t.Parallel()
	const templates = "/api/v1/namespaces/default/podtemplates"
	dir := t.TempDir()
	serve := func(gates string) client.Session {
		server := client.Serve(t, dir, func(c *daemon.Config) {
			c.Naming = "kubernetes"
			if err := c.API.FeatureGates.Set(gates); err != nil {
				t.Fatal(err)
			}
		})
		return client.Session{Server: server, Ctx: t.Context(), T: t}
	}
	body := func(name, image string) string {
		return `{"metadata":{"name":"` + name + `"},"template":{"spec":{"containers":[{"name":"c","image":"` + image + `"}],"os":{"name":"linux"},"volumes":[{"name":"v","emptyDir":{"mode":448}}]}}}`
	}
	holds := func(s client.Session, name string) bool {
		return strings.Contains(string(s.Send(200, "GET", templates+"/"+name, "", "").Body), `"emptyDir":{"mode":448}`)
	}
	s := serve("EmptyDirVolumeMode=true")
	s.Send(201, "POST", templates, client.JSON, body("on", "a"))
	if !holds(s, "on") {
		t.Error("a feature that is on has lost its field")
	}
	s.Stop(t)
	s = serve("ClusterTrustBundleProjection=false")
	s.Send(200, "PUT", templates+"/on", client.JSON, body("on", "b"))
	s.Send(201, "POST", templates, client.JSON, body("off", "a"))
	if !holds(s, "on") || holds(s, "off") {
		t.Error("a feature that is off keeps what uses it, and nothing else")
	}
}
