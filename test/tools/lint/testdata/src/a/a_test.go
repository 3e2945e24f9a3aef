package a

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWallTime(t *testing.T) {
	wait()
	time.Sleep(time.Second) // want "time.Sleep in a test"
	start := time.Now()
	took := time.Since(start)
	if took > time.Second { // want "upper bound on measured time"
		t.Error(took)
	}
	if time.Second < time.Now().Sub(start) { // want "upper bound on measured time"
		t.Error("slow")
	}
	if measure() >= time.Second || seconds(start) > 1 { // want "upper bound on measured time" "upper bound on measured time"
		t.Error("slow")
	}
	if took < time.Second { // a lower bound
		t.Error(took)
	}
	if took > 2*time.Minute { // a watchdog
		t.Error(took)
	}
	for time.Since(start) < time.Second { // want "upper bound on measured time"
		pause()
	}
	select {
	case <-time.After(time.Second): // want "time.After below a minute"
	case <-time.After(time.Minute):
	}
	deadline, watchdog := time.Now().Add(time.Second), time.Now().Add(time.Hour)
	for time.Now().Before(deadline) { // want "deadline below a minute"
	}
	for time.Now().Before(watchdog) {
	}
}

func measure() time.Duration {
	start := time.Now()
	return time.Since(start)
}

func seconds(start time.Time) float64 {
	s := time.Since(start).Seconds()
	return s
}

func pause() { time.Sleep(time.Second) } // want "time.Sleep in a test"

func TestInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Second)
		advance()
		pause()
	})
}

func advance() { time.Sleep(time.Second) } // called in bubbles only
