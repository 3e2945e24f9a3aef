package client

import (
	"fmt"
	"iter"
	"os"
	"strconv"
	"testing"
	"time"
)

// Soak says that the long forms of tests run: TROUPE_SOAK is set, to a duration such as 5m or to a number of rounds.
func Soak() bool { return os.Getenv("TROUPE_SOAK") != "" }

// Quick fails a test in the soak, where nothing else uses the machine, if more than limit has passed when the function that it
// returns is called. Elsewhere the time depends on what else runs.
func Quick(t testing.TB, limit time.Duration, what string) (done func()) {
	began := time.Now()
	return func() {
		t.Helper()
		//lint:ignore walltime nothing else uses the machine in the soak
		if took := time.Since(began); Soak() && took > limit {
			t.Errorf("%s took %v, more than %v", what, took, limit)
		}
	}
}

// Rounds counts the rounds of a test that is worth repeating: so many in make test, and at least so many in the long form, which goes on for the time
// that TROUPE_SOAK gives, or for as many rounds as it says. Where several loops share that time, each says how many they are. TROUPE_ROUND runs
// one round alone; if the test fails, its log has the command for the last one.
func Rounds(t testing.TB, short, loops int) iter.Seq[int] {
	t.Helper()
	count, end := short, time.Now()
	if text := os.Getenv("TROUPE_SOAK"); text != "" {
		n, err := strconv.Atoi(text)
		if err == nil {
			count = max(short, n/loops)
		} else if d, err := time.ParseDuration(text); err == nil {
			end = end.Add(d / time.Duration(loops))
		} else {
			t.Fatalf("TROUPE_SOAK is %q, neither a duration nor a number of rounds", text)
		}
	}
	only, alone := number(t, "TROUPE_ROUND")
	last := -1
	t.Cleanup(func() {
		if t.Failed() && last >= 0 {
			t.Logf("the last round was %d; repeat it with: %s", last, command(t, fmt.Sprint("TROUPE_ROUND=", last)))
		}
	})
	return func(yield func(int) bool) {
		if alone {
			last = int(only)
			yield(last)
			return
		}
		for n := 0; n < count || time.Now().Before(end); n++ {
			if last = n; !yield(n) {
				return
			}
		}
	}
}

// Figures logs what a test has tried and found, in a form that the table of make soak is made of.
func Figures(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Logf("tried: %s", fmt.Sprintf(format, args...))
}
