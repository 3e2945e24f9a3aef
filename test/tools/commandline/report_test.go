package main

import (
	"errors"
	"strings"
	"testing"
)

// TestReport checks the results if one group passes, one fails and one is missing.
func TestReport(t *testing.T) {
	const output = "+++ Running case: test-cmd.record_command_canary \n+++ exit code: 1\n" +
		"+++ Running case: test-cmd.run_kubectl_get_tests \n\x1b[32mfine\n\x1b(B\x1b[m+++ exit code: 0\n" +
		"+++ Running case: test-cmd.run_secrets_test \nexpected x\n+++ exit code: 1\n+++ error: 1\nsudden end\n"
	for name, c := range map[string]struct {
		selected []string
		want     string
	}{
		"groups": {[]string{"kubectl_get", "secrets_test"}, "kubectl_get: passed\nsecrets_test: FAILED\n    expected x\n1 passed, 1 failed\n"},
		"all": {[]string{"kubectl_get", "secrets_test", "wait", between}, "kubectl_get: passed\nsecrets_test: FAILED\n    expected x\n" +
			"between_groups: FAILED\n    +++ error: 1\n    sudden end\nwait: FAILED, did not run\n1 passed, 3 failed\n"},
	} {
		var got strings.Builder
		r := newReport(&got, c.selected)
		for part := range strings.SplitAfterSeq(output, "e") {
			if _, err := r.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.finish(errors.New("exit status 1")); err == nil || got.String() != c.want {
			t.Errorf("%s: %v, %q, want %q", name, err, got.String(), c.want)
		}
	}
}

func TestPassed(t *testing.T) {
	var got strings.Builder
	r := newReport(&got, []string{"wait", between})
	if _, err := r.Write([]byte("+++ Running case: test-cmd.run_wait_tests \n+++ exit code: 0\n+++ [1128 19:38:52] TESTS PASSED\n")); err != nil {
		t.Fatal(err)
	}
	if err := r.finish(nil); err != nil || got.String() != "wait: passed\nbetween_groups: passed\n2 passed, 0 failed\n" {
		t.Errorf("%v, %q", err, got.String())
	}
}
