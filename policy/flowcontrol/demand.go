package flowcontrol

import "math"

// demand records the seats that the requests of a level occupy or wait for during one period.
type demand struct {
	since, last         int64 // nanoseconds: start of the period and last update
	now, most           float64
	integral, ofSquares float64 // over seconds
}

// set records a change in demand. at must not decrease between calls.
func (d *demand) set(at int64, seats int) {
	seconds := float64(at-d.last) / 1e9
	d.integral += d.now * seconds
	d.ofSquares += d.now * d.now * seconds
	d.last, d.now = at, float64(seats)
	d.most = max(d.most, d.now)
}

// reset starts a new period and returns statistics of the previous one. If no time has passed, ok
// is false and only most is valid.
func (d *demand) reset(at int64) (mean, deviation, most float64, ok bool) {
	d.set(at, int(d.now))
	if seconds := float64(at-d.since) / 1e9; seconds > 0 {
		mean, ok = d.integral/seconds, true
		deviation = math.Sqrt(max(0, d.ofSquares/seconds-mean*mean))
	}
	most = d.most
	*d = demand{since: at, last: at, now: d.now, most: d.now}
	return mean, deviation, most, ok
}

// smoothing is the weight of the old value when demand falls. With one update every ten seconds,
// the half-life is five minutes. Rising demand takes effect immediately.
const smoothing = 0.977

type forecast struct {
	highWatermark                     int
	mean, deviation, smoothed, target float64
}

func (f *forecast) update(d *demand, at int64) {
	mean, deviation, most, ok := d.reset(at)
	f.highWatermark = int(most)
	if !ok {
		return
	}
	f.mean, f.deviation = mean, deviation
	envelope := mean + deviation
	f.smoothed = max(envelope, smoothing*f.smoothed+(1-smoothing)*envelope)
}
