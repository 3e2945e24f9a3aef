package client

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Seed returns the seed of a randomized test: TROUPE_SEED, or fixed by default. If the test fails,
// Seed logs the command that repeats it.
func Seed(t testing.TB, fixed uint64) uint64 {
	t.Helper()
	seed := fixed
	if n, set := number(t, "TROUPE_SEED"); set {
		seed = n
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with: %s", command(t, fmt.Sprint("TROUPE_SEED=", seed)))
		}
	})
	return seed
}

func number(t testing.TB, name string) (n uint64, set bool) {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, not a number", name, text)
	}
	return n, true
}

// command returns the command that reruns only this test, with this run's environment variables.
func command(t testing.TB, variables ...string) string {
	for _, name := range []string{"TROUPE_STORE", "TROUPE_DAEMONS", "TROUPE_HTTP"} {
		if value := os.Getenv(name); value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Error(err)
	}
	pattern := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	return fmt.Sprintf("cd test && %s go test -count 1 -run '%s' ./%s", strings.Join(variables, " "), pattern, filepath.Base(folder))
}
