package flowcontrol

// adjust sets the limits of all levels by what each could have used since the last time. c.mu is held.
//
// Exempt levels come first, since they are not limited. Of what is left every other level gets what it has used at most, up
// to its nominal limit, and what it keeps from lending in any case; the rest is divided in proportion to what they are expected to
// need. If there is too little for that, it is what they keep from lending, and a part of the way to what they have used.
func (c *Controller) adjust() {
	now := c.clock.now()
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

// parts are the new limits of the levels that are limited. left is how many seats there are without those of exempt
// levels, lowest the sum of what the levels never lend, and used the sum of their claims' lower bounds. The first two
// cases are those of too few seats: lower limits are given out even if they are more than there is, so that no level
// ever has less than it keeps for itself.
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
		default: // what is lent and what may be borrowed do not meet
			parts[i] = l.limit
		}
	}
	return parts
}

// observe ends a period: it returns the least that the level is to get. What an exempt level gets is not bounded by
// its shares, since it has taken that already.
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

// grant sets how many seats the level has now: one at least, if it has any of its own, or its first request would wait until the
// next time.
func (l *level) grant(seats int, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setLimit(max(seats, min(l.nominal, 1)), now)
}
