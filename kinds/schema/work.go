package schema

import (
	"context"
	"errors"
	"math"
)

// ValidationBudget limits the cost of validating one object against its CRD schema, to a few
// seconds at worst. Each evaluator costs 1 per value, and a pattern costs PatternCost. Typical
// objects cost thousands.
const ValidationBudget = 100_000_000

// PatternCost returns the cost of matching n bytes with a regular expression of the given size
// (regex.Expansion), because the matcher may follow every alternative.
func PatternCost(n, size int) int { return n * size / 4 }

// workInterval is the number of steps between two checks of the context, which take less than a
// millisecond.
const workInterval = 4096

var errTooCostly = errors.New("the cost limit is exceeded")

// Work bounds a computation by a context and a budget of steps. The zero value is unlimited.
type Work struct {
	ctx   context.Context
	until int // steps until the next check
	rest  int // remaining budget after until
	err   error
}

// NewWork returns a Work with a budget of steps.
func NewWork(ctx context.Context, budget int) Work {
	until := min(workInterval, budget)
	return Work{ctx: ctx, until: until, rest: budget - until}
}

// Spend counts n steps and reports whether the computation may continue.
func (w *Work) Spend(n int) bool {
	w.until -= n
	return w.until > 0 || w.check()
}

func (w *Work) check() bool {
	switch {
	case w.err != nil:
		return false
	case w.ctx == nil:
		w.until = math.MaxInt
		return true
	}
	w.rest += w.until
	if w.err = w.ctx.Err(); w.err == nil && w.rest <= 0 {
		w.err = errTooCostly
	}
	w.until = min(workInterval, w.rest)
	w.rest -= w.until
	return w.err == nil
}

// Err returns the context's error if the context stopped the computation, or nil if the budget was
// exhausted.
func (w *Work) Err() error {
	if w.err == errTooCostly {
		return nil
	}
	return w.err
}
