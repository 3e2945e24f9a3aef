package webhookclient

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/policy/kubeconfig"
	"github.com/troupe-api/troupe/policy/remote"
)

var errRefused = errors.New("refused")

func call(t *testing.T, c *circuit, connected bool, err error) {
	t.Helper()
	leave, entered := c.enter(t.Context(), t.Context())
	if entered != nil {
		t.Fatal(entered)
	}
	leave(connected, err)
}

func TestPanickingCallLeaves(t *testing.T) {
	c := &Client{circuit: newCircuit(), client: remote.New(remote.Options{URL: "https://192.0.2.1", Credential: func() *kubeconfig.Credential { panic("no credential") }})}
	func() {
		defer func() { _ = recover() }()
		_, err := c.Ask(t.Context(), time.Second, nil)
		t.Errorf("the call has ended with %v", err)
	}()
	if n := len(c.circuit.slots); n != 0 {
		t.Errorf("%d slots are taken", n)
	}
}

// TestCircuitOpens checks that only one call at a time probes while connections fail, and that the
// first successful connection closes the circuit.
func TestCircuitOpens(t *testing.T) {
	c := newCircuit()
	for range maxFailures {
		call(t, c, false, errRefused)
	}
	probe, err := c.enter(t.Context(), t.Context())
	if err != nil {
		t.Fatalf("no call may try: %v", err)
	}
	if _, err := c.enter(t.Context(), t.Context()); !errors.Is(err, errRefused) {
		t.Errorf("beside one that tries: %v", err)
	}
	probe(false, errRefused)
	probe, err = c.enter(t.Context(), t.Context())
	if err != nil {
		t.Fatalf("after one that has failed: %v", err)
	}
	probe(true, nil)
	for range 3 {
		leave, err := c.enter(t.Context(), t.Context())
		if err != nil {
			t.Fatalf("after one that was connected: %v", err)
		}
		defer leave(true, nil)
	}
}

// TestCircuitStaysClosed checks that the circuit counts neither requests that the client cancels
// nor failures after connecting.
func TestCircuitStaysClosed(t *testing.T) {
	c := newCircuit()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * maxFailures {
		call(t, c, true, errRefused)
		leave, err := c.enter(t.Context(), gone)
		if err != nil {
			t.Fatal(err)
		}
		leave(false, context.Canceled)
	}
	call(t, c, true, nil)
}

func TestCircuitIsBounded(t *testing.T) { synctest.Test(t, testCircuitIsBounded) }

func testCircuitIsBounded(t *testing.T) {
	c := newCircuit()
	var leaves []func(bool, error)
	for range maxCalls {
		leave, err := c.enter(t.Context(), t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	go func() {
		time.Sleep(50 * time.Millisecond)
		leaves[0](true, nil)
	}()
	leave, err := c.enter(t.Context(), t.Context())
	if err != nil {
		t.Fatalf("while others are answered: %v", err)
	}
	began := time.Now()
	if _, err := c.enter(t.Context(), t.Context()); !errors.Is(err, errStuck) {
		t.Errorf("while no call gets a response: %v", err)
	}
	if took := time.Since(began); took > 2*stuckAfter {
		t.Errorf("waited %s", took)
	}
	if _, err := c.enter(t.Context(), t.Context()); !errors.Is(err, errStuck) {
		t.Errorf("once more: %v", err)
	}
	leave(true, nil)
	for _, leave := range leaves[1:] {
		leave(true, nil)
	}
	call(t, c, true, nil)
}
