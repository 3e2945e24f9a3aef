package runtime

import (
	"context"
	"errors"
	"log/slog"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
)

type receiver func(self *Ref, message any)

func (f receiver) Receive(self *Ref, message any) { f(self, message) }

// newRuntime returns a Runtime that restarts an owner without backoff, up to three times.
func newRuntime(t *testing.T, strategy Strategy) *Runtime {
	t.Helper()
	r := New(Options{
		Throughput: 10, Logger: slog.New(slog.DiscardHandler),
		Supervision: Supervision{Strategy: strategy, MaxRestarts: 3, Window: time.Minute},
	})
	t.Cleanup(r.Close)
	return r
}

func spawn(r *Runtime, size int, inline bool, f receiver) *Ref {
	return r.Spawn(Spec{New: func() Owner { return f }, MailboxSize: size, Inline: inline})
}

func awaitStopped(t *testing.T, r *Runtime, refs ...*Ref) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	must.Succeed(t, r.Await(ctx, refs...))
}

type request struct {
	text   string
	answer chan error
}

func newRequest(text string) *request { return &request{text, make(chan error, 1)} }

func (r *request) Reject(err error) { r.answer <- err }

func TestMessagesInOrder(t *testing.T) {
	for _, inline := range []bool{false, true} {
		r := newRuntime(t, Restart)
		var got []any
		ref := spawn(r, 0, inline, func(_ *Ref, message any) { got = append(got, message) })
		want := []any{Started{}}
		for i := range 1000 {
			ref.Send(i)
			want = append(want, i)
		}
		ref.Drain()
		awaitStopped(t, r, ref)
		if want = append(want, Stopping{}); !slices.Equal(got, want) {
			t.Errorf("inline %v: %d messages, want %d: %v", inline, len(got), len(want), got)
		}
	}
}

// TestEveryMessageIsAnswered checks that every request gets one response, even from a full mailbox
// or an owner that is stopping or stopped.
func TestEveryMessageIsAnswered(t *testing.T) {
	r := newRuntime(t, Restart)
	entered, gate := make(chan struct{}), make(chan struct{})
	ref := spawn(r, 2, false, func(_ *Ref, message any) {
		if m, ok := message.(*request); ok {
			entered <- struct{}{}
			<-gate
			m.answer <- nil
		}
	})
	running, queued := newRequest("running"), []*request{newRequest("1"), newRequest("2")}
	ref.Send(running)
	<-entered
	for _, m := range queued {
		ref.Send(m)
	}
	tooMany := newRequest("too many")
	ref.Send(tooMany)
	if err := <-tooMany.answer; !errors.Is(err, ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	if n := ref.Len(); n != 2 {
		t.Errorf("%d are queued, want 2", n)
	}
	ref.Stop()
	close(gate)
	awaitStopped(t, r, ref)
	if err := <-running.answer; err != nil {
		t.Errorf("the running one: %v", err)
	}
	for _, m := range queued {
		if err := <-m.answer; !errors.Is(err, ErrStopped) {
			t.Errorf("queued %s: %v", m.text, err)
		}
	}
	late := newRequest("late")
	ref.Send(late)
	if err := <-late.answer; !errors.Is(err, ErrStopped) {
		t.Errorf("late: %v", err)
	}
}

func TestDrainOfFullMailbox(t *testing.T) {
	r := newRuntime(t, Restart)
	entered, gate := make(chan struct{}, 3), make(chan struct{})
	ref := spawn(r, 2, false, func(_ *Ref, message any) {
		if m, ok := message.(*request); ok {
			entered <- struct{}{}
			<-gate
			m.answer <- nil
		}
	})
	all := []*request{newRequest("1"), newRequest("2"), newRequest("3")}
	ref.Send(all[0])
	<-entered
	ref.Send(all[1])
	ref.Send(all[2])
	ref.Drain()
	close(gate)
	awaitStopped(t, r, ref)
	for _, m := range all {
		if err := <-m.answer; err != nil {
			t.Errorf("%s: %v", m.text, err)
		}
	}
	ref.Drain() // again: no effect
	awaitStopped(t, r, ref)
}

func TestAwaitGivesUp(t *testing.T) {
	r := newRuntime(t, Restart)
	entered, gate := make(chan struct{}), make(chan struct{})
	ref := spawn(r, 0, false, func(_ *Ref, message any) {
		if message == "wait" {
			close(entered)
			<-gate
		}
	})
	ref.Send("wait")
	<-entered // otherwise it could stop before it is busy
	ref.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Await(ctx, ref); !errors.Is(err, context.Canceled) {
		t.Errorf("awaiting an owner that is busy: %v", err)
	}
	close(gate)
	awaitStopped(t, r, ref)
}

func TestInline(t *testing.T) {
	r := newRuntime(t, Restart)
	handled := 0
	started := make(chan struct{})
	ref := spawn(r, 0, true, func(_ *Ref, message any) {
		switch message {
		case Started{}:
			close(started)
		case "message":
			handled++
		}
	})
	<-started
	for i := range 100 {
		ref.Send("message")
		if handled != i+1 { // the race detector reports another goroutine
			t.Fatalf("after %d sends %d are handled", i+1, handled)
		}
	}
}

// TestTurn checks that only a sender that finds the owner idle gets a Turn. Run handles one message
// on the sender's goroutine, and Dispatch handles all messages on another goroutine.
func TestTurn(t *testing.T) {
	r := newRuntime(t, Restart)
	started, onSender := make(chan struct{}), make(chan bool, 10)
	ref := spawn(r, 0, false, func(self *Ref, message any) {
		if message == (Started{}) {
			close(started)
		} else if message != (Stopping{}) {
			onSender <- self.OnSender()
		}
	})
	<-started
	running := func() bool {
		ref.mailbox.mu.Lock()
		defer ref.mailbox.mu.Unlock()
		return ref.mailbox.running
	}
	for running() {
		goruntime.Gosched()
	}
	turn := ref.Enqueue("first")
	if late := ref.Enqueue("second"); turn == (Turn{}) || late != (Turn{}) {
		t.Fatal("not only the first sender has the turn")
	}
	turn.Run()
	if first, second := <-onSender, <-onSender; !first || second {
		t.Errorf("on the sender's goroutine: the first message %v, the second one %v; want only the first", first, second)
	}
	ref.Enqueue("third").Dispatch()
	if <-onSender {
		t.Error("a dispatched message runs on the sender's goroutine")
	}
	ref.Drain()
	awaitStopped(t, r, ref)
}

func TestBatch(t *testing.T) {
	r := newRuntime(t, Restart)
	const owners = 100
	var handled sync.WaitGroup
	handled.Add(2 * owners)
	var refs []*Ref
	for range owners {
		refs = append(refs, spawn(r, 0, false, func(_ *Ref, message any) {
			if message == "wake" {
				handled.Done()
			}
		}))
	}
	var b Batch
	for range 2 {
		for _, ref := range refs {
			b.Send(ref, "wake")
		}
		b.Flush(r)
	}
	handled.Wait()
	for _, ref := range refs {
		ref.Stop()
	}
	awaitStopped(t, r, refs...)
}

func TestManyOwners(t *testing.T) {
	r := newRuntime(t, Restart)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				ref := spawn(r, 4, true, func(self *Ref, message any) {
					if m, ok := message.(*request); ok {
						m.answer <- nil
						self.Stop()
					}
				})
				m := newRequest("x")
				ref.Send(m)
				if err := <-m.answer; err != nil {
					t.Error(err)
				}
				<-ref.Done()
			}
		})
	}
	wait.Wait()
}

func BenchmarkSend(b *testing.B) {
	r := New(Options{Throughput: 300, Logger: slog.New(slog.DiscardHandler)})
	defer r.Close()
	ref := spawn(r, 0, false, func(*Ref, any) {})
	b.ReportAllocs()
	for b.Loop() {
		ref.Send(struct{}{})
	}
	ref.Drain()
	<-ref.Done()
}

func BenchmarkSpawn(b *testing.B) {
	r := New(Options{Throughput: 300, Logger: slog.New(slog.DiscardHandler)})
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		ref := spawn(r, 0, true, func(*Ref, any) {})
		ref.Stop()
		<-ref.Done()
	}
}
