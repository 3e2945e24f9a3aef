package client

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

type session struct {
	*rest.Client
	ctx      context.Context
	in       io.Reader
	out, err io.Writer
	flags    *connectionFlags
	command  *cobra.Command
	catalog  *discovery.Catalog // see served; nil until needed
}

// run returns the RunE function for a command with a session. Ctrl-C cancels the session's context.
func (f *connectionFlags) run(o options) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		s, err := f.session(ctx, c, o)
		if err != nil {
			return asError(err)
		}
		err = o.run(s, args)
		if ctx.Err() != nil && err != nil { // after an interrupt, errors are expected
			return &Error{Code: exitInterrupted}
		}
		return asError(err)
	}
}

// session creates the session of a command. If o has a stdinUse method, error messages include its
// description of how the command uses standard input.
func (f *connectionFlags) session(ctx context.Context, c *cobra.Command, o options) (*session, error) {
	stdinUse := ""
	if user, ok := o.(interface{ stdinUse() string }); ok {
		stdinUse = user.stdinUse()
	}
	rules := f.rules()
	rules.Programs = kubeconfig.Programs{Stdin: os.Stdin, StdinUse: stdinUse, Stderr: c.ErrOrStderr()}
	if f.As == "" && (f.AsUID != "" || len(f.AsGroup) > 0) {
		return nil, usageError("requesting uid, groups or user-extra without impersonating a user: add --as")
	}
	config, err := rules.Load()
	if err != nil {
		return nil, err
	}
	client := rest.New(config, rest.Options{Agent: "troupe", Warnings: printer.SafeWriter(c.ErrOrStderr())})
	client.Timeout = f.RequestTimeout
	client.Namespace = cmp.Or(client.Namespace, "default")
	return &session{Client: client, ctx: ctx, in: c.InOrStdin(), out: c.OutOrStdout(), err: c.ErrOrStderr(), flags: f, command: c}, nil
}

func (s *session) notef(format string, args ...any) {
	fmt.Fprint(s.err, printer.Safe(fmt.Sprintf(format, args...)))
}

func (s *session) served() (*discovery.Catalog, error) {
	if s.catalog == nil {
		c, err := discovery.Load(s.ctx, s.Client)
		if err != nil {
			return nil, err
		}
		s.catalog = c
	}
	return s.catalog, nil
}

func (s *session) printf(format string, args ...any) {
	fmt.Fprint(s.out, printer.Safe(fmt.Sprintf(format, args...)))
}

type dryRun string

const (
	dryRunNone   dryRun = "none"
	dryRunClient dryRun = "client"
	dryRunServer dryRun = "server"
)

func (d *dryRun) String() string { return string(*d) }
func (d *dryRun) Type() string   { return "string" }
func (d *dryRun) Set(v string) error {
	switch dryRun(v) {
	case dryRunNone, dryRunClient, dryRunServer:
		*d = dryRun(v)
		return nil
	}
	return fmt.Errorf("invalid dry-run value (%v). Must be \"none\", \"server\", or \"client\"", v)
}

func (d dryRun) suffix() string {
	switch d {
	case dryRunClient:
		return " (dry run)"
	case dryRunServer:
		return " (server dry run)"
	}
	return ""
}

func (s *session) own(group, resource string) (*discovery.Resource, error) {
	c, err := s.served()
	if err != nil {
		return nil, err
	}
	return c.Own(group, resource)
}

func (s *session) tree(ctx context.Context, r rest.Request) (tree.Tree, error) {
	answer, err := s.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	return answer.Tree()
}
