package runtime

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"
)

// A Runtime runs owners on a pool of goroutines, with one supervisor.
type Runtime struct {
	system     *actor.ActorSystem
	dispatcher *dispatcher
	supervisor *supervisor
}

type Options struct {
	// Throughput is the number of messages that an owner handles before it yields.
	Throughput  int
	Supervision Supervision
	Logger      *slog.Logger
}

func New(o Options) *Runtime {
	return &Runtime{
		system: sharedSystem(), dispatcher: newDispatcher(o.Throughput),
		supervisor: &supervisor{settings: o.Supervision, logger: o.Logger},
	}
}

// An Owner has private state that only its Receive method uses. Receive is called for one message
// at a time. self is the owner's own reference.
type Owner interface {
	Receive(self *Ref, message any)
}

// Messages that the runtime sends to owners.
type (
	// Started is the first message of an owner.
	Started struct{}
	// Restarting is the last message of an owner that is replaced after a panic.
	Restarting struct{}
	// Stopping is the last message of an owner that stops.
	Stopping struct{}
)

// A Spec describes an owner to spawn.
type Spec struct {
	// New creates the owner, and its replacement after a panic.
	New func() Owner
	// MailboxSize limits the number of queued messages. 0 means unlimited.
	MailboxSize int
	// Inline lets an idle owner handle one message on the sender's goroutine.
	Inline bool
}

// Spawn starts an owner, which may receive Started before Spawn returns.
func (r *Runtime) Spawn(s Spec) *Ref {
	ref := &Ref{mailbox: mailbox{limit: s.MailboxSize, inline: s.Inline, dispatcher: r.dispatcher}}
	pid := r.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &process{ref, s.New(), r.supervisor} },
		actor.WithMailbox(func() actor.Mailbox { return &ref.mailbox }),
		actor.WithDispatcher(r.dispatcher),
		actor.WithGuardian(r.supervisor)))
	ref.name = pid.Id
	return ref
}

// Await blocks until the owners have stopped. It returns the context's error if ctx is done first.
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

// Close stops the idle goroutines. All owners must have stopped.
func (r *Runtime) Close() { r.dispatcher.close() }

// Panics returns the number of panics in owners since the runtime was created.
func (r *Runtime) Panics() uint64 { return r.supervisor.panics.Load() }

// Restarts returns the number of owner restarts.
func (r *Runtime) Restarts() uint64 { return r.supervisor.restarts.Load() }

// process adapts an owner to Proto.Actor.
type process struct {
	ref        *Ref
	owner      Owner
	supervisor *supervisor
}

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

// receiveLast delivers the last message to an owner. It recovers from panics, because Proto.Actor
// would otherwise not stop the owner.
func (p *process) receiveLast(name string, message any) {
	defer func() {
		if reason := recover(); reason != nil {
			p.supervisor.notePanic(name, message, reason)
		}
	}()
	p.owner.Receive(p.ref, message)
}
