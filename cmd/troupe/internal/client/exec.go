package client

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"github.com/moby/spdystream"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
)

func execCommand(f *connectionFlags) *cobra.Command {
	var stdin, tty, quiet bool
	container := ""
	c := &cobra.Command{
		Use:               "exec POD | TYPE/NAME [-c CONTAINER] -- COMMAND [ARG…]",
		Short:             "Run a command in a container",
		Example:           "  troupe exec web -- ls /\n  troupe exec -it deployment/web -- sh",
		ValidArgsFunction: f.completeNamesOf("pods"),
	}
	c.Flags().BoolVarP(&stdin, "stdin", "i", false, "Pass standard input to the command.")
	c.Flags().BoolVarP(&tty, "tty", "t", false, "The command gets a terminal.")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "Say nothing but what the command says.")
	c.Flags().StringVarP(&container, "container", "c", "", "Container.")
	use := func(*cobra.Command) string {
		if stdin {
			return "the command (-i)"
		}
		return ""
	}
	c.RunE = f.runWith(use, func(s *session, args []string) error {
		dash := c.ArgsLenAtDash()
		if len(args) == 0 || dash == 0 {
			return usageError("pod, type/name or --filename must be specified")
		}
		if dash != 1 || len(args) < 2 {
			return usageError("you must specify the command behind --, such as: troupe exec web -- ls /")
		}
		pod, err := s.podFor(args[0])
		if err != nil {
			return err
		}
		if quiet {
			s.err = io.Discard
		}
		if container, err = s.containerOf(pod, container); err != nil {
			return err
		}
		if tty && !isTerminal(s.in) {
			fmt.Fprintln(s.err, "Unable to use a TTY - input is not a terminal or the right kind of file")
			tty = false
		}
		q := url.Values{"container": {container}, "command": args[1:], "stdout": {"true"}, "stdin": {strconv.FormatBool(stdin)}, "tty": {strconv.FormatBool(tty)}}
		if !tty {
			q.Set("stderr", "true")
		}
		return s.runCommand(pod.path()+"/exec", q, stdin, tty)
	})
	return c
}

// runCommand runs a command in a container and ends as it does.
func (s *session) runCommand(path string, q url.Values, stdin, tty bool) error {
	c, err := s.openStreams(path, q, "v4.channel.k8s.io")
	if err != nil {
		return err
	}
	defer c.Close()
	stop := closeWith(s, c)
	defer stop()
	fate, err := openStream(c, nil, "error")
	if err != nil {
		return err
	}
	if tty {
		restore, err := rawTerminal(s.in)
		if err != nil {
			return err
		}
		defer restore()
	}
	if stdin {
		in, err := openStream(c, nil, "stdin")
		if err != nil {
			return err
		}
		go func() { // it ends with the connection, or with the input
			_, _ = io.Copy(in, s.in)
			_ = in.Close()
		}()
	}
	var outputs sync.WaitGroup
	for kind, w := range map[string]io.Writer{"stdout": s.out, "stderr": s.err} {
		if kind == "stderr" && tty {
			continue
		}
		from, err := openStream(c, nil, kind)
		if err != nil {
			return err
		}
		outputs.Add(1)
		go func() {
			defer outputs.Done()
			_, _ = io.Copy(w, from)
		}()
	}
	if tty {
		resize, err := openStream(c, nil, "resize")
		if err != nil {
			return err
		}
		defer followSize(s.in, resize)()
	}
	status, err := io.ReadAll(io.LimitReader(fate, 1<<20))
	outputs.Wait()
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if err != nil {
		return errors.New("the connection to the container broke off: " + err.Error())
	}
	return commandEnd(status)
}

// commandEnd is how a command ended, as the server tells it.
func commandEnd(status []byte) error {
	t, err := document.Parse(status)
	if err != nil {
		if len(status) == 0 {
			return errors.New("the connection to the container broke off")
		}
		return errors.New(string(status))
	}
	if t.String("status") == "Success" {
		return nil
	}
	for _, cause := range t.Object("details").Objects("causes") {
		if code, err := strconv.Atoi(cause.String("message")); err == nil && cause.String("reason") == "ExitCode" {
			return &Error{Text: fmt.Sprintf("command terminated with exit code %d", code), Code: code}
		}
	}
	return errors.New(t.String("message"))
}

// closeWith closes a connection when the user breaks off.
func closeWith(s *session, c *spdystream.Connection) (stop func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-s.ctx.Done():
			c.Close()
		case <-done:
		}
	}()
	return func() { close(done) }
}

// rawTerminal hands each key on as it is typed.
func rawTerminal(in io.Reader) (restore func(), err error) {
	f, ok := in.(*os.File)
	if !ok {
		return func() {}, nil
	}
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return func() { _ = term.Restore(int(f.Fd()), state) }, nil
}

// followSize tells the size of the terminal, now and when it changes.
func followSize(in io.Reader, to io.Writer) (stop func()) {
	f, ok := in.(*os.File)
	if !ok {
		return func() {}
	}
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	changed <- syscall.SIGWINCH
	go func() {
		for range changed {
			if width, height, err := term.GetSize(int(f.Fd())); err == nil {
				fmt.Fprintf(to, "{\"Width\":%d,\"Height\":%d}\n", width, height)
			}
		}
	}()
	return func() { signal.Stop(changed); close(changed) }
}
