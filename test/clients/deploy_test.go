package clients

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const folder = "../../docs/deploy/"

func readDeploy(t *testing.T, name string) string {
	t.Helper()
	text := client.ReadFile(t, folder+name)
	return string(text)
}

// TestDeployFlags checks that the deployment files use existing flags with valid values.
func TestDeployFlags(t *testing.T) {
	flag := regexp.MustCompile(`--([a-z0-9-]+)=([^\s",]+)`)
	for _, name := range []string{"troupe.service", "Containerfile", "kustomize/statefulset.yaml"} {
		c := daemon.Default()
		groups := c.Flags()
		found := 0
	flags:
		for _, match := range flag.FindAllStringSubmatch(readDeploy(t, name), -1) {
			if match[1] == "from" || match[1] == "chown" { // instructions of the Containerfile
				continue
			}
			found++
			for _, g := range groups {
				if f := g.Flags.Lookup(match[1]); f != nil {
					if err := f.Value.Set(match[2]); err != nil {
						t.Errorf("%s: --%s=%s: %v", name, match[1], match[2], err)
					}
					continue flags
				}
			}
			t.Errorf("%s: troupe serve has no flag --%s", name, match[1])
		}
		if found < 3 {
			t.Errorf("%s: %d flags were found", name, found)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestObjects checks that the server accepts the manifests without warnings, and that the Pods meet
// their namespace's restricted Pod security level.
func TestObjects(t *testing.T) {
	for _, name := range []string{"kustomize", "kustomize-etcd"} {
		t.Run(name, func(t *testing.T) { applyKustomization(t, name) })
	}
}

func applyKustomization(t *testing.T, name string) {
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder+name)
	if err != nil {
		t.Fatal(err)
	}
	collections := map[string]string{
		"Namespace": "/api/v1/namespaces", "Service": "/api/v1/namespaces/troupe/services", "StatefulSet": "/apis/apps/v1/namespaces/troupe/statefulsets",
		"NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/troupe/networkpolicies", "PodDisruptionBudget": "/apis/policy/v1/namespaces/troupe/poddisruptionbudgets",
	}
	var template any
	for _, r := range built.Resources() {
		text, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		answer := s.Send(201, "POST", collections[r.GetKind()]+"?fieldValidation=Strict", client.JSON, string(text))
		if warnings := answer.Header.Values("Warning"); len(warnings) > 0 {
			t.Errorf("%s: %q", r.GetKind(), warnings)
		}
		if r.GetKind() == "StatefulSet" {
			spec, _ := answer.Object()["spec"].(map[string]any)
			template = spec["template"]
		}
	}
	pod, _ := template.(map[string]any)
	if pod == nil {
		t.Fatal("there is no StatefulSet with a template")
	}
	pod["metadata"].(map[string]any)["name"] = "troupe-0"
	spec := pod["spec"].(map[string]any)
	if spec["volumes"] == nil {
		spec["volumes"] = []any{map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": "data-troupe-0"}}}
	}
	text, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	client.Eventually(t, func() error { // Pods require the default service account, which a controller creates
		answer, err := s.Get(s.Ctx, "/api/v1/namespaces/troupe/serviceaccounts/default")
		if err == nil && answer.Code != 200 {
			err = &answer
		}
		return err
	})
	s.Send(201, "POST", "/api/v1/namespaces/troupe/pods", client.JSON, string(text))
}

// TestMetrics checks that alert and dashboard queries are valid, and use existing metrics and
// labels.
func TestMetrics(t *testing.T) {
	s := client.Open(t, nil)
	s.Send(409, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"default"}}`) // creates the metrics of writes
	answer := s.Send(200, "GET", "/metrics", "", "")
	written := map[string]map[string]bool{ // labels by metric
		"up": {"job": true, "instance": true}, // written by Prometheus itself
		// These metrics have no series until the first relevant request. docs/operations.md lists
		// them.
		"troupe_unreadable_objects": {"job": true}, "apiserver_audit_error_total": {"job": true, "plugin": true},
	}
	label := regexp.MustCompile(`([a-z_]+)="`)
	for line := range strings.Lines(string(answer.Body)) {
		series, _, _ := strings.Cut(strings.TrimSpace(line), "} ")
		name, labels, hasLabels := strings.Cut(series, "{")
		if name, _, _ = strings.Cut(name, " "); written[name] == nil {
			written[name] = map[string]bool{"job": true, "instance": true} // added by Prometheus
		}
		if hasLabels {
			for _, match := range label.FindAllStringSubmatch(labels, -1) {
				written[name][match[1]] = true
			}
		}
	}
	asked := map[string]string{}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readDeploy(t, "prometheus-rules.yaml")), &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			asked[r.Alert] = r.Expr
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("the alert %s has no severity, summary or description", r.Alert)
			}
		}
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	client.Decode(t, readDeploy(t, "grafana-dashboard.json"), &dashboard)
	shown := map[string][]string{} // labels in legends
	legend := regexp.MustCompile(`\{\{\s*([a-z_]+)\s*\}\}`)
	for _, p := range dashboard.Panels {
		for i, target := range p.Targets {
			where := fmt.Sprintf("panel %s %d", p.Title, i)
			asked[where] = strings.ReplaceAll(target.Expr, "$__rate_interval", "1m")
			for _, match := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				shown[where] = append(shown[where], match[1])
			}
		}
	}
	if len(asked) < 25 {
		t.Fatalf("only %d expressions were found", len(asked))
	}
	for where, text := range asked {
		e, err := metricsql.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		metricsql.VisitAll(e, func(e metricsql.Expr) {
			switch e := e.(type) {
			case *metricsql.MetricExpr:
				name := e.LabelFilterss[0][0].Value
				if e.LabelFilterss[0][0].Label != "__name__" || written[name] == nil {
					t.Errorf("%s: the daemon writes no %s", where, name)
				}
				labels := slices.Clone(shown[where])
				for _, filter := range e.LabelFilterss[0][1:] {
					labels = append(labels, filter.Label)
				}
				for _, label := range labels {
					if !written[name][label] {
						t.Errorf("%s: %s has no label %s", where, name, label)
					}
				}
			case *metricsql.AggrFuncExpr:
				metricsql.VisitAll(e, func(inner metricsql.Expr) {
					m, ok := inner.(*metricsql.MetricExpr)
					if !ok {
						return
					}
					for _, label := range e.Modifier.Args {
						if !written[m.LabelFilterss[0][0].Value][label] {
							t.Errorf("%s: %s has no label %s to aggregate by", where, m.LabelFilterss[0][0].Value, label)
						}
					}
				})
			}
		})
	}
}
