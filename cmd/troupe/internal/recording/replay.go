package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/plan"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// A Player replays a recording to a command.
type Player struct {
	*Recording
	Command
	Config daemon.Config // configures the ephemeral server; its Kubeconfig must be set
	Ignore []string      // resources whose writes are not compared
	// Idle is the time without a write, a watch or a watch event after which the command is idle.
	Idle time.Duration

	client   *rest.Client
	writer   *daemon.RawWriter
	recorded map[string][]*write // by signature

	*world                              // state of the replay
	entries              chan Entry     // entries to add to world
	made                 map[string]int // number of writes by signature
	started, idle, ended bool           // state of the command
	exited               chan error
	err                  error
	names                []string
	forward, backward    *strings.Replacer // from names in the recording to those in the replay, and back
}

// Run replays the recording and returns the differences. If the command fails, it also returns an
// error.
func (p *Player) Run(ctx context.Context) (_ *plan.Report, err error) {
	naming, err := meta.ParseNaming(p.Naming)
	if err != nil {
		return nil, err
	}
	read := newWorld(p.ignored)
	p.recorded, p.made, p.world = map[string][]*write{}, map[string]int{}, newWorld(p.ignored)
	p.forward, p.backward = strings.NewReplacer(), strings.NewReplacer()
	for _, e := range p.Entries {
		if w := read.add(e); w != nil {
			p.recorded[w.signature()] = append(p.recorded[w.signature()], w)
		}
	}
	since, _ := strconv.ParseUint(p.ResourceVersion, 10, 64) // 0 if it is unknown
	initial, steps := read.replay(since)
	p.Config.Naming = p.Naming
	d, err := plan.NewServer(p.Config, initial)
	if err != nil {
		return nil, err
	}
	d.SkipWebhooks(func(tree.Tree) bool { return true })
	p.writer = d.RawWriter()
	if err := d.Start(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Stop(context.Background())) }()
	config, err := kubeconfig.Load(p.Config.Kubeconfig)
	if err != nil {
		return nil, err
	}
	p.client = rest.New(config, rest.Options{Agent: "troupe-replay", Warnings: io.Discard})
	defer p.client.Close()
	commandCtx, terminate := context.WithCancel(ctx)
	defer terminate()
	p.entries, p.exited = make(chan Entry, 1000), make(chan error, 1)
	proxy, err := newProxy(config, naming, p.Secrets)
	if err != nil {
		return nil, err
	}
	proxy.observe = func(e Entry) {
		select {
		case p.entries <- e:
		case <-ctx.Done():
		}
	}
	go func() { p.exited <- p.Command.run(commandCtx, proxy, "") }()
	err = p.play(ctx, steps)
	terminate()
	for !p.ended { // also after an error, so that the command does not outlive the replay
		p.next(context.WithoutCancel(ctx), nil)
	}
	if err != nil {
		return nil, err
	}
	return report(p.Path, read.writes, p.writes, read.failed), p.err
}

func (p *Player) ignored(t target) bool {
	return slices.Contains(p.Ignore, t.Resource) || slices.Contains(p.Ignore, t.GroupResource.String())
}

// play makes each external change after the command's steps that precede it.
func (p *Player) play(ctx context.Context, steps []step) error {
	needed := map[string]int{}
	for _, s := range steps {
		done := func() bool { return p.ended }
		switch {
		case s.watch != nil:
			done = func() bool { return p.watched[*s.watch] }
		case s.write != nil:
			signature := s.write.signature()
			needed[signature]++
			done = func() bool { return p.made[signature] >= needed[signature] }
		case !p.ended:
			if err := p.apply(ctx, s); err != nil {
				return err
			}
			p.idle = false
			continue
		}
		if err := p.await(ctx, done); err != nil {
			return err
		}
	}
	return p.await(ctx, func() bool { return false })
}

// startFactor multiplies Idle until the command sends its first request.
const startFactor = 20

// await blocks until done returns true, or the command is idle or has exited. It does not wait for
// an idle command again before the next change.
func (p *Player) await(ctx context.Context, done func() bool) error {
	patience := p.Idle
	if !p.started {
		patience *= startFactor
	}
	quiet := time.NewTimer(patience)
	defer quiet.Stop()
	for !p.ended && (len(p.entries) > 0 || !p.idle && !done()) {
		if p.next(ctx, quiet.C) {
			quiet.Reset(p.Idle)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case p.idle && !p.started:
			return fmt.Errorf("no request within %v: the controller must use the kubeconfig in KUBECONFIG", patience)
		}
	}
	return nil
}

// next handles the next entry or the exit of the command. It reports whether the command was
// active.
func (p *Player) next(ctx context.Context, idle <-chan time.Time) (active bool) {
	select {
	case e := <-p.entries:
		if active = p.handle(e); active {
			p.idle = false
		}
	case <-idle:
		p.idle = true
	case err := <-p.exited:
		for len(p.entries) > 0 {
			p.handle(<-p.entries)
		}
		p.ended, p.err = true, err
	case <-ctx.Done():
	}
	return active
}

func (p *Player) handle(e Entry) (active bool) {
	e.URI, e.Body = p.backward.Replace(e.URI), []byte(p.backward.Replace(string(e.Body)))
	if w := p.add(e); w != nil {
		signature := w.signature()
		if n, all := p.made[signature], p.recorded[signature]; n < len(all) {
			p.translate(all[n].result.Object("metadata"), w.result.Object("metadata"))
		}
		p.made[signature]++
	}
	first := !p.started
	p.started = true
	t := p.requests[cmp.Or(e.Request, e.Seq)]
	return first || t != nil && !p.ignored(t.target) && (t.writes() || t.verb == "watch" && e.Event != "BOOKMARK")
}

// translate records that the UID and name of a recorded object stand for those in the replay.
func (p *Player) translate(recorded, replayed tree.Tree) {
	for _, field := range []string{"uid", "name"} {
		from, to := recorded.String(field), replayed.String(field)
		if from == "" || to == "" || from == to {
			continue
		}
		p.names = append(p.names, from, to)
		reversed := slices.Clone(p.names)
		slices.Reverse(reversed)
		p.forward, p.backward = strings.NewReplacer(p.names...), strings.NewReplacer(reversed...)
	}
}

// apply applies an external change to the current object. It does nothing if the change or deletion
// needs an object that the command has not created.
func (p *Player) apply(ctx context.Context, s step) error {
	before, after := p.translated(s.before), p.translated(s.after)
	path := p.forward.Replace(s.target.path(s.target.Namespace, s.target.Name))
	for {
		live, err := p.client.Get(ctx, path, nil)
		if err != nil && !rest.IsNotFound(err) {
			return err
		}
		next := live
		switch {
		case live == nil && (before != nil || after == nil):
			return nil
		case after != nil:
			next = rebase(live, before, after).(tree.Tree)
			next.Object("metadata")["resourceVersion"] = live.Object("metadata").String("resourceVersion")
			if tree.StrictEqual(next, live) {
				return nil
			}
		}
		if err := p.writer.Write(ctx, document.JSON(next), after == nil); !errors.Is(err, persist.ErrCondition) {
			return err
		}
	}
}

func (p *Player) translated(object tree.Tree) tree.Tree {
	return parseBody([]byte(p.forward.Replace(string(document.JSON(object)))))
}

// rebase returns live with the difference between before and after applied to it.
func rebase(live, before, after any) any {
	l, isLive := live.(tree.Tree)
	b, isBefore := before.(tree.Tree)
	a, isAfter := after.(tree.Tree)
	switch {
	case tree.StrictEqual(before, after):
		return live
	case !isLive || !isBefore || !isAfter || l == nil:
		return tree.Clone(after)
	}
	next := l.Copy()
	for name := range b {
		if _, kept := a[name]; !kept {
			delete(next, name)
		}
	}
	for name, value := range a {
		if v := rebase(l[name], b[name], value); v != nil {
			next[name] = v
		}
	}
	return next
}
