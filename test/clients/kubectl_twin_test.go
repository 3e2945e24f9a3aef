package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

// asKubectl stands for the output and exit code of a command in a transcript of troupe if they
// equal kubectl's.
const asKubectl = "(as kubectl)\n"

// TestTwins runs the commands of the kubectl tests with troupe. The transcripts in
// testdata/kubectl/twin contain only output that differs from kubectl's.
func TestTwins(t *testing.T) {
	for _, profile := range profiles {
		for _, table := range append(tables(t, profile), ownTables(t)...) {
			if slices.Contains(withoutTwin, table) || os.Getenv("TROUPE_SOAK") == "" && !*transcript.Update && profile == "kubernetes" && !strings.HasPrefix(table, "troupe/") && !slices.Contains(dailyTwins, table) {
				continue
			}
			t.Run(profile+"/"+table, func(t *testing.T) {
				t.Parallel()
				binary, inWorkers := client.TroupeWorkerBinary(t), true
				if slices.Contains(processTables, table) {
					binary, inWorkers = client.TroupeBinary(t), false
				}
				got := perform(t, binary, inWorkers, profile, table)
				var of []step
				if !strings.HasPrefix(table, "troupe/") {
					text := client.ReadFile(t, recordingPath(profile, table))
					of = readKubectl(string(text))
				}
				for i, s := range got {
					if i < len(of) && of[i].command == s.command && of[i].exit == s.exit && of[i].output == s.output {
						got[i].output, got[i].exit = asKubectl, 0
					}
				}
				path := filepath.Join("testdata/kubectl", "twin", profile, strings.ReplaceAll(strings.TrimPrefix(table, "kubernetes/"), "/", "-")+".txt")
				if *transcript.Update {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					client.WriteFile(t, path, writeKubectl(got))
				}
				want := client.ReadFile(t, path)
				compare(t, writeKubectl(got), string(want))
			})
		}
	}
}

// ownTables returns the names of the test tables in testdata/kubectl/steps/troupe. kubectl lacks
// these commands or prints different output.
func ownTables(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/kubectl/steps/troupe/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no tables", err)
	}
	for _, f := range files {
		names = append(names, "troupe/"+strings.TrimSuffix(filepath.Base(f), ".txt"))
	}
	return names
}

// dailyTwins lists the test tables that TestTwins runs in the kubernetes profile even without
// TROUPE_SOAK. It always runs all tables in the platform profile, because no other client fully
// supports that profile.
var dailyTwins = []string{"create", "kubernetes/access", "kubernetes/custom"}

// withoutTwin lists the test tables that TestTwins skips, because they need features that troupe
// lacks: last-applied annotations, rollouts, and rarely used kubectl modes.
var withoutTwin = []string{"ssa", "kubernetes/modes", "kubernetes/rollout"}

func readKubectl(transcript string) (steps []step) {
	for _, text := range split("\n" + strings.TrimSuffix(transcript, "\n")) {
		command, output, ok := strings.Cut(text, "\n")
		if !ok || command == "" {
			continue
		}
		s := step{command: command, output: output}
		if i := strings.LastIndex(s.output, "[exit "); i >= 0 && (i == 0 || s.output[i-1] == '\n') {
			fmt.Sscanf(s.output[i:], "[exit %d]", &s.exit)
			s.output = s.output[:i]
		}
		steps = append(steps, s)
	}
	return steps
}
