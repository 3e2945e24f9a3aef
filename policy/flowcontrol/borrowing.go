package flowcontrol

import "time"

// adjust sets the current limits of all levels from their demand since the last call. The caller
// holds c.mu.
//
// Exempt levels come first, because they are not limited. Each other level gets the high watermark
// of its demand, between its lower bound and its nominal limit. The remaining seats are divided in
// proportion to smoothed demand (target). If there are too few seats, each level gets its lower
// bound and the same fraction of the way to its high watermark.
func (c *Controller) adjust() {
	now := int64(time.Since(c.epoch))
	var limited []*level
	var claims []claim
	left, lowest, used := c.nominals, 0, 0
	for _, l := range c.current.Load().levels {
		floor := l.observe(now)
		if l.spec.exempt {
			left -= floor
			l.grant(floor, now)
			continue
		}
		limited = append(limited, l)
		claims = append(claims, claim{l.forecast.target, float64(floor), float64(l.upper)})
		lowest += l.lower
		used += floor
	}
	c.fraction = 0
	for i, seats := range c.parts(limited, claims, left, lowest, used) {
		limited[i].grant(seats, now)
	}
}

// parts returns the new limits of levels. left is the number of seats that exempt levels do not
// use. lowest is the sum of the levels' lower bounds. used is the sum of the minimum limits from
// observe. Each level gets at least its lower bound, even if lowest exceeds left.
func (c *Controller) parts(levels []*level, claims []claim, left, lowest, used int) []int {
	parts := make([]int, len(levels))
	divided, fraction, ok := allocate(float64(c.nominals), claims)
	for i, l := range levels {
		floor := claims[i].lower
		switch {
		case left <= lowest:
			parts[i] = l.lower
		case left <= used:
			parts[i] = l.lower + round((floor-float64(l.lower))*float64(left-lowest)/float64(used-lowest))
		case ok:
			parts[i], c.fraction = round(divided[i]), fraction
		default: // the bounds cannot be met
			parts[i] = l.limit
		}
	}
	return parts
}

// observe updates the forecast of a level's demand and returns its minimum limit until the next
// call. An exempt level may exceed its nominal limit, because its seats are already in use.
func (l *level) observe(now int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forecast.update(&l.demand, now)
	floor := l.forecast.highWatermark
	if !l.spec.exempt {
		floor = min(floor, l.nominal)
	}
	floor = max(floor, l.lower)
	l.forecast.target = max(float64(floor), l.forecast.smoothed)
	return floor
}

// grant sets the current limit. A level with a nominal limit gets at least one seat. Otherwise its
// first request would have to wait for the next adjustment.
func (l *level) grant(seats int, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setLimit(max(seats, min(l.nominal, 1)), now)
}
