package flowcontrol

import (
	"math"
	"slices"
)

// A claim is what a level wants of the seats, and the bounds of what it may get.
type claim struct{ target, lower, upper float64 }

// minTarget stands for a target of nothing, so that all have some proportion.
const minTarget = 0.001

// at is what the claim gets if all get the same fraction of their targets: within its own bounds.
func (c claim) at(fraction float64) float64 {
	return min(max(max(c.target, minTarget)*fraction, c.lower), c.upper)
}

// allocate divides seats among claims: each gets the same fraction of its target, as far as its bounds allow. ok is false
// if the bounds leave no way.
//
// What all get together rises with the fraction, in straight lines between the fractions at which a claim meets one of
// its bounds. So the two of these between which the sum lies are looked up, and the fraction follows from them exactly.
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
	// Sums of many floating-point numbers differ from what they should be by far less than a seat.
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

// round is the next whole number.
func round(f float64) int { return int(math.Round(f)) }
