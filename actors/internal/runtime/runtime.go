package runtime

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"
)

// A Runtime runs owners on a pool of goroutines, under one supervision.
type Runtime struct {
	system     *actor.ActorSystem
	dispatcher *dispatcher
	supervisor *supervisor
}

// Options say how a Runtime runs its owners.
type Options struct {
	// Throughput is how many messages an owner handles before it yields to others.
	Throughput  int
	Supervision Supervision
	Logger      *slog.Logger
}

// New makes a Runtime without owners.
func New(o Options) *Runtime {
	return &Runtime{
		system: newSystem(), dispatcher: newDispatcher(o.Throughput),
		supervisor: &supervisor{settings: o.Supervision, logger: o.Logger},
	}
}

// An Owner has state that only its Receive method touches. Receive is called for one message at a
// time, with the owner's own reference. It is a type switch of short cases.
type Owner interface {
	Receive(self *Ref, message any)
}

// The messages that an owner gets from the runtime.
type (
	// Started is the first message of an owner.
	Started struct{}
	// Restarting is the last message of an owner that has panicked and is replaced by another.
	Restarting struct{}
	// Stopping is the last message of an owner that ends.
	Stopping struct{}
)

// A Spec says what Spawn starts.
type Spec struct {
	// New makes the owner: once at the start, and again after each panic that restarts it.
	New func() Owner
	// MailboxSize bounds the messages that wait; 0 does not.
	MailboxSize int
	// Inline lets whoever sends to the idle owner run it for that one message.
	Inline bool
}

// Spawn starts an owner. It may have received Started before Spawn returns.
func (r *Runtime) Spawn(s Spec) *Ref {
	ref := &Ref{}
	ref.mailbox.limit, ref.mailbox.inline = s.MailboxSize, s.Inline
	pid := r.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &process{ref, s.New(), r.supervisor} },
		actor.WithMailbox(func() actor.Mailbox { return &ref.mailbox }),
		actor.WithDispatcher(r.dispatcher),
		actor.WithGuardian(r.supervisor)))
	ref.name = pid.Id
	return ref
}

// Await waits until owners that have been told to stop are gone.
func (r *Runtime) Await(ctx context.Context, refs ...*Ref) error {
	for _, ref := range refs {
		select {
		case <-ref.Done():
		case <-ctx.Done():
			return fmt.Errorf("actor %s has not stopped: %w", ref.name, ctx.Err())
		}
	}
	return nil
}

// Close lets the idle goroutines go. Owners must have stopped before.
func (r *Runtime) Close() { r.dispatcher.close() }

// Panics is the number of panics of owners since the start.
func (r *Runtime) Panics() uint64 { return r.supervisor.panics.Load() }

// Restarts is the number of restarts of owners since the start.
func (r *Runtime) Restarts() uint64 { return r.supervisor.restarts.Load() }

// process is an owner as Proto.Actor sees it.
type process struct {
	ref        *Ref
	owner      Owner
	supervisor *supervisor
}

// Receive implements actor.Actor.
func (p *process) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		p.owner.Receive(p.ref, Started{})
	case *actor.Restarting:
		p.receiveLast(ctx.Self().Id, Restarting{})
	case *actor.Stopping:
		p.receiveLast(ctx.Self().Id, Stopping{})
	case *actor.Stopped:
		p.ref.markStopped()
	case drained:
		p.ref.Stop()
	default:
		p.owner.Receive(p.ref, m)
	}
}

// receiveLast hands an owner its last message. A panic in it would make Proto.Actor forget that the
// owner was to stop.
func (p *process) receiveLast(name string, message any) {
	defer func() {
		if reason := recover(); reason != nil {
			p.supervisor.notePanic(name, message, reason)
		}
	}()
	p.owner.Receive(p.ref, message)
}
