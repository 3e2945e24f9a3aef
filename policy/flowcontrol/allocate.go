package flowcontrol

import (
	"math"
	"slices"
)

// A claim is a level's target number of seats, with its lower and upper bounds.
type claim struct{ target, lower, upper float64 }

// minTarget is the minimum target. A claim with target zero would never get a seat.
const minTarget = 0.001

func (c claim) at(fraction float64) float64 {
	return min(max(max(c.target, minTarget)*fraction, c.lower), c.upper)
}

// allocate divides seats among claims. Each claim gets the same fraction of its target, clamped to
// its bounds. ok is false if the bounds make this impossible.
//
// The sum of all parts is a piecewise linear function of the fraction, with a bend wherever a part
// reaches a bound. allocate finds the two bends whose sums enclose seats, and interpolates between
// them.
func allocate(seats float64, claims []claim) (parts []float64, fraction float64, ok bool) {
	sum := func(f float64) (all float64) {
		for _, c := range claims {
			all += c.at(f)
		}
		return all
	}
	bends := []float64{0}
	for _, c := range claims {
		bends = append(bends, c.lower/max(c.target, minTarget), c.upper/max(c.target, minTarget))
	}
	slices.Sort(bends)
	// The tolerance covers rounding errors, which are far below one seat.
	const tolerance = 1e-7
	last := len(bends) - 1
	if sum(0) > seats+tolerance || sum(bends[last]) < seats-tolerance {
		return nil, 0, false
	}
	i, _ := slices.BinarySearchFunc(bends, seats, func(f, seats float64) int {
		if sum(f) < seats {
			return -1
		}
		return 1
	})
	if fraction = bends[min(i, last)]; i > 0 && i <= last {
		low, high := sum(bends[i-1]), sum(bends[i])
		fraction = bends[i-1] + (bends[i]-bends[i-1])*(seats-low)/(high-low)
	}
	for _, c := range claims {
		parts = append(parts, c.at(fraction))
	}
	return parts, fraction, true
}

func round(f float64) int { return int(math.Round(f)) }
