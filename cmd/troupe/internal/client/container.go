package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"sync"

	"golang.org/x/term"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
)

type containerFlags struct {
	Container         string
	Stdin, TTY, Quiet bool
}

func (o *containerFlags) stdinUse() string {
	if o.Stdin {
		return "the container (-i)"
	}
	return ""
}

// enter connects to a container of the Pod named by arg, through its exec or attach subresource.
func (s *session) enter(o *containerFlags, arg, how string, q url.Values) error {
	notes := *s // for messages of the client itself
	if o.Quiet {
		notes.err = io.Discard
	}
	pod, err := notes.podFor(arg)
	if err != nil {
		return err
	}
	s.catalog = notes.catalog
	if phase := pod.tree.Object("status").String("phase"); phase == "Succeeded" || phase == "Failed" {
		return fmt.Errorf("cannot %s: the pod %s has ended (phase %s)", how, pod.name(), phase)
	}
	container, err := notes.containerOf(pod, o.Container)
	if err != nil {
		return err
	}
	tty := o.TTY
	if tty && !isTerminal(s.in) {
		fmt.Fprintln(notes.err, "Unable to use a TTY - input is not a terminal or the right kind of file")
		tty = false
	}
	if how == "attach" && o.Stdin && tty {
		fmt.Fprintln(notes.err, "If you don't see a command prompt, try pressing enter.")
	}
	q.Set("container", container)
	return s.runInContainer(pod, how, q, o.Stdin, tty)
}

// runInContainer connects the session's streams to a container and blocks until its command exits.
// If the command fails, it returns an Error with the exit code.
func (s *session) runInContainer(pod object, how string, q url.Values, stdin, tty bool) error {
	q.Set("stdin", strconv.FormatBool(stdin))
	q.Set("stdout", "true")
	q.Set("stderr", strconv.FormatBool(!tty)) // a terminal has a single output
	q.Set("tty", strconv.FormatBool(tty))
	c, err := s.openStreams(pod.path()+"/"+how, q, "v4.channel.k8s.io")
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(s.ctx, func() { c.Close() })
	defer stop()
	fate, err := s.openStream(c, nil, "error")
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
		in, err := s.openStream(c, nil, "stdin")
		if err != nil {
			return err
		}
		go func() { // ends with the connection or the input
			_, _ = io.Copy(in, s.in)
			_ = in.Close()
		}()
	}
	var outputs sync.WaitGroup
	for kind, w := range map[string]io.Writer{"stdout": s.out, "stderr": s.err} {
		if kind == "stderr" && tty {
			continue
		}
		from, err := s.openStream(c, nil, kind)
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
		resize, err := s.openStream(c, nil, "resize")
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
		return errors.New("lost connection to the container: " + err.Error())
	}
	return commandEnd(status)
}

// commandEnd converts the final Status of a command to an error, or to nil on success.
func commandEnd(status []byte) error {
	t, err := document.Parse(status)
	if err != nil {
		if len(status) == 0 {
			return errors.New("lost connection to the container")
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

// rawTerminal puts the terminal into raw mode. It does nothing if in is not a file.
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

func followSize(in io.Reader, to io.Writer) (stop func()) {
	f, ok := in.(*os.File)
	if !ok {
		return func() {}
	}
	changed := make(chan os.Signal, 1)
	notifyResize(changed)
	changed <- os.Interrupt // any signal; sends the initial size
	go func() {
		for range changed {
			if width, height, err := term.GetSize(int(f.Fd())); err == nil {
				fmt.Fprintf(to, "{\"Width\":%d,\"Height\":%d}\n", width, height)
			}
		}
	}()
	return func() { signal.Stop(changed); close(changed) }
}
