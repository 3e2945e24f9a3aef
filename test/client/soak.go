package client

import (
	"fmt"
	"iter"
	"os"
	"strconv"
	"testing"
	"time"
)

// Soak reports whether tests run in their long form. TROUPE_SOAK contains a duration, such as 5m,
// or a number of rounds.
func Soak() bool { return os.Getenv("TROUPE_SOAK") != "" }

// Quick returns a function that fails the test if more than limit has passed since the call to
// Quick. It checks the time only in a soak test, because other tests share the machine.
func Quick(t testing.TB, limit time.Duration, name string) (done func()) {
	began := time.Now()
	return func() {
		t.Helper()
		//lint:ignore walltime nothing else uses the machine in the soak
		if took := time.Since(began); Soak() && took > limit {
			t.Errorf("%s took %v, more than %v", name, took, limit)
		}
	}
}

// Rounds iterates over the rounds of a repeated test. short is the default number of rounds. In a
// soak test, TROUPE_SOAK contains a duration or a number of rounds, which the loops of the test
// share equally. TROUPE_ROUND selects a single round. If the test fails, Rounds logs the command
// that repeats the last round.
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

// Figures logs a test's coverage, for the table printed by "make soak".
func Figures(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Logf("tried: %s", fmt.Sprintf(format, args...))
}
