package clients

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	testclient "github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/kubelet"
	"github.com/troupe-api/troupe/test/transcript"
)

var profiles = []string{"kubernetes", "platform"}

// tables returns the names of a naming profile's test tables, including those for all profiles. A
// test table is a file with one kubectl command per line.
func tables(t *testing.T, profile string) (names []string) {
	t.Helper()
	for _, pattern := range []string{"testdata/kubectl/steps/*.txt", "testdata/kubectl/steps/" + profile + "/*.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, "testdata/kubectl/steps/"), ".txt"))
		}
	}
	if len(names) == 0 {
		t.Fatal("no tables")
	}
	return names
}

func recordingPath(profile, table string) string {
	return filepath.Join("testdata/kubectl", profile, filepath.Base(table)+".txt")
}

func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/kubectl/manifests")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// controllers is the value of --controllers in these tests. It disables controllers that would
// interfere with the commands. For example, some commands set the status of PersistentVolumes and
// PodDisruptionBudgets, and some count Secrets.
const controllers = testclient.WithoutRoots + ",-disruption-controller,-persistentvolume-binder-controller,-serviceaccount-token-secret-controller"

// workloadsTables lists the test tables that need the workload controllers and a simulated kubelet.
var workloadsTables = []string{"kubernetes/rollout"}

// processTables lists the test tables that run each command in a separate process, because they
// test signals and exit codes.
var processTables = []string{"watch", "auth", "troupe/formats"}

func startKubelet(t *testing.T, kubeconfig string) (stop func()) {
	t.Helper()
	c, err := testclient.New(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return kubelet.Start(t.Context(), c).Stop
}

func perform(t *testing.T, binary string, inWorkers bool, profile, table string) (steps []step) {
	t.Helper()
	text := testclient.ReadFile(t, "testdata/kubectl/steps/"+table+".txt")
	config := daemon.Default()
	config.DataDir, config.Naming, config.Serving.SecurePort = t.TempDir(), profile, 0
	config.Controllers = controllers
	if slices.Contains(workloadsTables, table) {
		config.Controllers += ",workloads"
	}
	// Otherwise, a claim would get the condition Unused at an unpredictable time.
	if err := config.API.FeatureGates.Set("PersistentVolumeClaimUnusedSinceTime=false"); err != nil {
		t.Fatal(err)
	}
	d, err := daemon.New(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	defer d.Stop(context.Background())
	if slices.Contains(workloadsTables, table) {
		defer startKubelet(t, d.Kubeconfig())()
	}
	c := newClientKubectl(t, binary, inWorkers, profile, d.Kubeconfig(), workspace(t))
	for _, command := range commands(string(text)) {
		s, err := c.run(command)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	return steps
}

func TestTables(t *testing.T) {
	for _, profile := range profiles {
		for _, table := range tables(t, profile) {
			t.Run(profile+"/"+table, func(t *testing.T) {
				t.Parallel()
				got := writeKubectl(perform(t, testclient.KubectlBinary(t), !slices.Contains(processTables, table), profile, table))
				path := recordingPath(profile, table)
				if *transcript.Update {
					testclient.WriteFile(t, path, got)
				}
				want := string(testclient.ReadFile(t, path))
				if os.Getenv("TROUPE_KUBECTL") != "" {
					got, want = newKubectl.ReplaceAllString(got, ""), newKubectl.ReplaceAllString(want, "")
				}
				compare(t, got, want)
			})
		}
	}
}

// newKubectl matches output lines that the kubectl version in go.mod prints differently from the
// two previous minor versions.
var newKubectl = regexp.MustCompile(`(?m)^(Warning: resource statefulsets/db was previously managed| *(Liveness|Readiness|Startup|Service Name|Pod Management Policy|` +
	`Persistent Volume Claim Retention Policy|WhenDeleted|WhenScaled|Time Zone|Kube-Proxy Version|Events):).*\n?`)

// compare reports the steps at which two transcripts differ.
func compare(t *testing.T, got, want string) {
	t.Helper()
	gots, wants := split(got), split(want)
	if len(gots) != len(wants) {
		t.Errorf("%d steps, the transcript has %d", len(gots), len(wants))
	}
	for i := range min(len(gots), len(wants)) {
		if gots[i] != wants[i] {
			t.Errorf("step %d: got\n%s\nwant\n%s", i+1, gots[i], wants[i])
		}
	}
}

func split(transcript string) []string {
	return strings.Split(transcript, "\n$ ")
}

// TestOtherClients runs the commands of every test table with other kubectl versions, and compares
// the exit codes. It requires TROUPE_SOAK.
func TestOtherClients(t *testing.T) {
	if os.Getenv("TROUPE_SOAK") == "" {
		return
	}
	binaries, err := others()
	if err != nil {
		t.Fatal(err)
	}
	for _, binary := range binaries {
		for _, profile := range profiles {
			for _, table := range tables(t, profile) {
				if profile == "platform" && table == "create" {
					continue // some versions send objects from flags as JSON and others as Protobuf
				}
				t.Run(filepath.Base(binary)+"/"+profile+"/"+table, func(t *testing.T) {
					t.Parallel()
					steps := perform(t, binary, false, profile, table)
					exits(t, steps, recordingPath(profile, table), func(s step) bool {
						// kubectl 1.27 requests a beta version of SelfSubjectReview, and kubectl
						// 1.33 and older request one of VolumeAttributesClass.
						return strings.HasSuffix(binary, ".1.27") && strings.Contains(s.command, "auth whoami") ||
							strings.Contains(s.command, "describe volumeattributesclass")
					})
				})
			}
		}
	}
}

// exits checks the exit code of each step, except steps for which differs returns true.
func exits(t *testing.T, steps []step, path string, differs func(step) bool) {
	t.Helper()
	text := testclient.ReadFile(t, path)
	wants := split(string(text))
	if len(wants) != len(steps) {
		t.Fatalf("%d steps, the transcript has %d", len(steps), len(wants))
	}
	for i, s := range steps {
		want := 0
		lines := strings.Split(strings.TrimSpace(wants[i]), "\n")
		if last := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "[exit ") }); last >= 0 {
			fmt.Sscanf(lines[last], "[exit %d]", &want)
		}
		if s.exit != want && !differs(s) {
			t.Errorf("step %d: exit code %d, want %d\n%s", i+1, s.exit, want, writeKubectl([]step{s}))
		}
	}
}
