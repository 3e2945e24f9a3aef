package command

import "testing"

func TestStandInFlags(t *testing.T) {
	if code := Main([]string{"kube-apiserver", "--version"}); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	t.Setenv("TROUPE_APISERVER_FLAGS", "--no-such-flag")
	if code := Main([]string{"kube-apiserver", "--version"}); code != 1 {
		t.Errorf("exit code %d with an unknown flag in the environment, want 1", code)
	}
}
