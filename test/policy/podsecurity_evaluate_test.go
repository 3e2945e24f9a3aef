package policy

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
	"github.com/troupe-api/troupe/test/client"
)

// An oracle contains the evaluators of k8s.io/pod-security-admission (public) and Troupe (own).
type oracle struct {
	public policy.Evaluator
	own    *podsecurity.Evaluator
}

func newOracle(t testing.TB) oracle {
	t.Helper()
	public, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return oracle{public, podsecurity.NewEvaluator(meta.Kubernetes)}
}

// versions returns all versions of the Pod security standards, one future version, and latest.
func versions() (names []string) {
	for minor := range 39 {
		names = append(names, fmt.Sprintf("v1.%d", minor))
	}
	return append(names, "latest")
}

// compare evaluates a Pod, given as JSON, with both evaluators at every level and version. The
// results must be equal. seen counts the rejections by reason.
func (o oracle) compare(t testing.TB, text []byte, seen map[string]int) {
	t.Helper()
	var pod corev1.Pod
	client.Decode(t, text, &pod)
	decoded := decode(t, text)
	for _, level := range []string{"privileged", "baseline", "restricted"} {
		for _, version := range versions() {
			public := o.evaluatePublic(t, level, version, &pod)
			own := o.own.Evaluate(levelVersion(t, level, version), decoded)
			if public.ForbiddenDetail() != own.Details() || public.ForbiddenReason() != own.Reasons() {
				t.Fatalf("%s:%s of %s:\npublic %s\nown    %s", level, version, text, public.ForbiddenDetail(), own.Details())
			}
			for _, v := range own {
				seen[v.Reason]++
			}
		}
	}
}

func (o oracle) evaluatePublic(t testing.TB, level, version string, pod *corev1.Pod) policy.AggregateCheckResult {
	t.Helper()
	l, err := api.ParseLevel(level)
	if err != nil {
		t.Fatal(err)
	}
	v, err := api.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return policy.AggregateCheckResults(o.public.EvaluatePod(api.LevelVersion{Level: l, Version: v}, &pod.ObjectMeta, &pod.Spec))
}

func levelVersion(t testing.TB, level, version string) podsecurity.LevelVersion {
	t.Helper()
	l, err := podsecurity.ParseLevel(level)
	if err != nil {
		t.Fatal(err)
	}
	v, err := podsecurity.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return podsecurity.LevelVersion{Level: l, Version: v}
}

func decode(t testing.TB, text []byte) tree.Tree {
	t.Helper()
	value, _, err := codec.DecodeAny(text)
	if err != nil {
		t.Fatal(err)
	}
	return value.(tree.Tree)
}

// defaultVolumes turns volumes without a source into emptyDir volumes, as defaulting does.
func defaultVolumes(pod tree.Tree) {
	for _, v := range pod.Object("spec").Objects("volumes") {
		if len(v) == 1 {
			v["emptyDir"] = tree.Tree{}
		}
	}
}

// reasons lists the possible reasons for a rejection.
var reasons = []string{
	"allowPrivilegeEscalation != false", "forbidden AppArmor profile", "forbidden AppArmor profiles", "non-default capabilities",
	"unrestricted capabilities", "host namespaces", "hostPath volumes", "hostPort", "probe or lifecycle host", "privileged",
	"procMount", "restricted volume types", "runAsNonRoot != true", "runAsUser=0", "seLinuxOptions", "seccompProfile",
	"forbidden sysctls", "hostProcess",
}

// TestRandomPods checks that both evaluators agree on random Pods, and that each check rejects some
// of them.
func TestRandomPods(t *testing.T) {
	o, seen := newOracle(t), map[string]int{}
	g := Generator{rand.New(rand.NewSource(int64(client.Seed(t, 1))))}
	for range 1000 {
		text := client.Encode(t, g.Pod())
		o.compare(t, text, seen)
	}
	for _, reason := range reasons {
		if seen[reason] == 0 {
			t.Errorf("nothing was forbidden for %q", reason)
		}
	}
}

// TestPublishedPods checks that both evaluators accept or reject each published fixture as its
// directory requires, for the same reasons.
func TestPublishedPods(t *testing.T) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "k8s.io/pod-security-admission/test").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(dir)), "testdata")
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "*", "*.yaml"))
	if err != nil || len(files) < 1000 {
		t.Fatalf("%d fixtures in %s: %v", len(files), root, err)
	}
	o, compared := newOracle(t), map[string]tree.Tree{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pod := compared[string(data)]
		if pod == nil {
			text, err := yaml.YAMLToJSON(data)
			if err != nil {
				t.Fatal(err)
			}
			o.compare(t, text, map[string]int{})
			pod = decode(t, text)
			defaultVolumes(pod)
			compared[string(data)] = pod
		}
		where := strings.Split(strings.TrimPrefix(file, root+"/"), "/") // level, version, pass or fail, name
		found := o.own.Evaluate(levelVersion(t, where[0], where[1]), pod)
		if (len(found) == 0) != (where[2] == "pass") {
			t.Errorf("%s: %s", file, found.Details())
		}
	}
}
